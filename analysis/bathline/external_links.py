"""Refusal of HDF5 links that lead out of a file or form cycles; results contain none."""

from h5py import h5d, h5l, h5o


def refuse_external_links(file):
    """Refuse a file that contains anything found by `external_link`; no link is followed.

    Parameters
    ----------
    file : h5py.File
        An open file.

    Raises
    ------
    ValueError
        If the file contains such a link; the message names it.
    """
    link = external_link(file)
    if link is not None:
        raise ValueError(f"{link}, which results never contain")


def external_link(file):
    """Describe the first link that is soft, external or a second hard link, or dataset stored in other files.

    Parameters
    ----------
    file : h5py.File
        An open file.

    Returns
    -------
    str or None
        For instance "closed/q is a soft link"; None if there is no such object.
    """
    seen = {h5o.get_info(file.id).addr}

    def describe(name, link):
        text = name.decode("utf-8", "replace")
        if link.type == h5l.TYPE_SOFT:
            return f"{text} is a soft link"
        if link.type != h5l.TYPE_HARD:
            return f"{text} is a link to another file"
        if link.u in seen:
            return f"{text} is a second hard link to the same object"
        seen.add(link.u)
        if h5o.get_info(file.id, name).type != h5o.TYPE_DATASET:
            return None
        properties = h5d.open(file.id, name).get_create_plist()
        if properties.get_layout() == h5d.VIRTUAL or properties.get_external_count() > 0:
            return f"{text} has its values in other files"
        return None

    return file.id.links.visit(describe, info=True)
