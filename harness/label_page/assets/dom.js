// Elements. Text enters the page as text nodes only, so nothing that a document says can become markup.

export function h(what, attributes, ...children) {
  const [tag, ...classes] = what.split('.');
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(' ');
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...nodes(children));
  return node;
}

export function swap(node, ...children) {
  node.replaceChildren(...nodes(children));
  return node;
}

export function byId(id) {
  return document.getElementById(id);
}

// Text that came from outside: its own direction stays inside.
export function foreign(text, what = 'bdi') {
  return h(`${what}.foreign`, null, text);
}

function nodes(children) {
  return children.flat(4)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}
