"""What HDF5 would follow out of a file, or round in circles, and no result has."""

from h5py import h5d, h5l, h5o


def refuse_external_links(file):
    """Raises a ValueError that names what is foreign in an open file of h5py; nothing is followed."""
    part = external_link(file)
    if part is not None:
        raise ValueError(f"{part}, which results do not have")


def external_link(file):
    """What is foreign in an open file of h5py, or None."""
    seen = {h5o.get_info(file.id).addr}

    def look(name, link):
        shown = name.decode("utf-8", "replace")
        if link.type == h5l.TYPE_SOFT:
            return f"{shown} is a soft link"
        if link.type != h5l.TYPE_HARD:
            return f"{shown} is a link to another file"
        if link.u in seen:
            return f"{shown} is a second name of what has one already"
        seen.add(link.u)
        if h5o.get_info(file.id, name).type != h5o.TYPE_DATASET:
            return None
        properties = h5d.open(file.id, name).get_create_plist()
        if properties.get_layout() == h5d.VIRTUAL or properties.get_external_count() > 0:
            return f"{shown} has its values in other files"
        return None

    return file.id.links.visit(look, info=True)
