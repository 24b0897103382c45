"""XML."""
import re
from xml.etree import ElementTree


def _name(entry):
    return entry.tag.partition("}")[2] if "}" in entry.tag else entry.tag


def _add(found, name, value):
    """Repeated names become lists."""
    if name not in found:
        found[name] = value
    elif isinstance(found[name], list):
        found[name].append(value)
    else:
        found[name] = [found[name], value]


def _plain(tree):
    if not len(tree):
        return {_name(tree): tree.text}
    found = {}
    for child in tree:
        name = _name(child)
        # The first of a name is its text, the others are maps: extensions count on it.
        _add(found, name, _plain(child) if len(child) or name in found else child.text)
    return found


def _with_attributes(tree):
    found = dict(tree.attrib)
    if not len(tree):
        if not found:
            return tree.text
        if tree.text:
            found[_name(tree)] = tree.text
    for child in tree:
        _add(found, _name(child), _with_attributes(child))
    return found


def to_dict(xmltree, attr=False):
    """A tree as nested maps."""
    return _with_attributes(xmltree) if attr else _plain(xmltree)


def get_xml_node(node, xpath):
    """The node at a path like `a/b[@c='d']`; what is missing of it is made."""
    path = xpath if xpath.startswith("./") else "./" + xpath
    found = node.find(path)
    if found is not None:
        return found
    above, _, last = path.rpartition("/")
    parent = node.find(above)
    parent = get_xml_node(node, above) if parent is None else parent
    tag, name, value = re.match(r"""([^[]+)(?:\[@(\w+)=["']([^"']+)["']])?""", last).groups()
    return ElementTree.SubElement(parent, tag, {name: value} if name and value else {})


def set_node_text(node, value):
    node.text = str(value)


def strip_spaces(node):
    """Takes white space around texts away, to compare trees."""
    for each in node.iter():
        each.text = each.text if each.text is None else each.text.strip(" \t\n")
        each.tail = each.tail if each.tail is None else each.tail.strip(" \t\n")
    return node


def element_to_str(node):
    return ElementTree.tostring(node).decode("ascii")
