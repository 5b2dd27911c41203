"""Downsampled series keep their extremes, ends and gaps."""

import unittest

import numpy as np

import synthetic  # noqa: F401  (finds the analysis)
from bathline.downsampling import downsample


class DownsamplingTest(unittest.TestCase):
    def setUp(self):
        self.x = np.linspace(0.0, 1.0, 100001)
        self.y = np.sin(40 * self.x)
        self.y[33333], self.y[77777] = 9.0, -8.0

    def test_extremes_and_ends_are_kept(self):
        kept = downsample(self.x, self.y, buckets=300)
        self.assertLess(len(kept), 6 * 300 + 1)
        self.assertTrue(np.all(np.diff(kept) > 0))
        self.assertEqual((kept[0], kept[-1]), (0, 100000))
        self.assertLessEqual({33333, 77777}, set(kept))

    def test_every_bucket_keeps_its_extremes(self):
        kept = downsample(self.x, self.y, buckets=100)
        for first in range(0, 100000, 1000):
            # Rounding may move the boundary of a bucket by one point.
            drawn = self.y[kept[(kept >= first - 1) & (kept <= first + 1000)]]
            whole = self.y[first + 1 : first + 999]
            self.assertGreaterEqual(drawn.max(), whole.max())
            self.assertLessEqual(drawn.min(), whole.min())

    def test_short_series_are_unchanged(self):
        np.testing.assert_array_equal(downsample(self.x[:500], self.y[:500], buckets=100), np.arange(500))

    def test_gaps_are_kept(self):
        self.y[5000:5010] = np.nan
        kept = downsample(self.x, self.y, buckets=100)
        self.assertLessEqual(set(range(5000, 5010)), set(kept))
        self.assertIn(33333, kept)

    def test_a_logarithmic_axis_keeps_its_early_decades(self):
        kept = downsample(self.x + 1e-6, self.y, log_x=True, buckets=300)
        self.assertGreater(np.sum(kept < 100), 60)
        self.assertEqual(kept[-1], 100000)

    def test_orbits_keep_their_extremes_in_both_directions(self):
        angle = np.linspace(0, 200, 100001)
        x, y = np.cos(angle), np.sin(angle)
        x[12345], y[54321] = -2.0, 3.0
        kept = downsample(x, y, buckets=300)
        self.assertLessEqual({12345, 54321}, set(kept))
        self.assertTrue(np.all(np.diff(kept) > 0))


if __name__ == "__main__":
    unittest.main()
