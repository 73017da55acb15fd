// Elements, for the report and the labelling page. Text enters a page as text nodes only, so nothing that a
// document says can become markup.

const SVG = 'http://www.w3.org/2000/svg';

function nodes(children) {
  return children.flat(4)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

function filled(node, classes, attributes, children) {
  if (classes.length) node.setAttribute('class', classes.join(' '));
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'css') for (const [name, v] of Object.entries(value)) node.style.setProperty(name, v);
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...nodes(children));
  return node;
}

// h('p.note', {title: '…'}, 'text', child)
export function h(what, attributes, ...children) {
  const [tag, ...classes] = what.split('.');
  return filled(document.createElement(tag), classes, attributes, children);
}

// The same in a drawing.
export function g(what, attributes, ...children) {
  const [tag, ...classes] = what.split('.');
  return filled(document.createElementNS(SVG, tag), classes, attributes, children);
}

export function swap(node, ...children) {
  node.replaceChildren(...nodes(children));
  return node;
}

export function byId(id) {
  return document.getElementById(id);
}

// Text that came from outside: its own direction and line breaks stay inside.
export function foreign(text, what = 'bdi') {
  return h(`${what}.foreign`, null, text);
}
