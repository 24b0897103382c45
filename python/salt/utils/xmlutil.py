"""XML."""


def _name(entry):
    return entry.tag.partition("}")[2] if entry.tag.startswith("{") else entry.tag


def to_dict(xmltree, attr=False):
    """A tree as nested maps; repeated names become lists."""
    if not list(xmltree) and not (attr and xmltree.attrib):
        return {_name(xmltree): xmltree.text}
    found = dict(xmltree.attrib) if attr else {}
    for child in xmltree:
        name = _name(child)
        nested = list(child) or (attr and child.attrib)
        value = to_dict(child, attr) if nested else child.text
        if name in found:
            if not isinstance(found[name], list):
                found[name] = [found[name]]
            found[name].append(value)
        else:
            found[name] = value
    return found


def get_xml_node(node, xpath):
    found = node.find(xpath)
    if found is None:
        import xml.etree.ElementTree as tree

        found = tree.SubElement(node, xpath)
    return found
