// Elements. Text enters the page as text nodes only, so nothing that a document says can become markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'css') for (const [name, v] of Object.entries(value)) node.style.setProperty(name, v);
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

// h('p.note', {title: '…'}, 'text', child)
function h(what, attributes, ...children) {
  const [tag, ...classes] = what.split('.');
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(' ');
  return fill(node, attributes, children);
}

function g(what, attributes, ...children) {
  const [tag, ...classes] = what.split('.');
  const node = document.createElementNS(SVG, tag);
  if (classes.length) node.setAttribute('class', classes.join(' '));
  return fill(node, attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

// Text that came from outside: its own direction and line breaks stay inside.
function foreign(text, what = 'bdi') {
  return h(`${what}.foreign`, null, text);
}

function hidden(text) {
  return h('span.hidden', null, text);
}

function select(label, options, value, onchange, attributes = {}) {
  const node = h('select', { ...attributes, onchange: () => onchange(node.value) },
    options.map(([key, text]) => h('option', { value: key, selected: String(key) === String(value) }, text)));
  return h('label.field', null, h('span', null, label), node);
}

function search(label, value, oninput, attributes = {}) {
  let timer = 0;
  const node = h('input', {
    type: 'search', value, placeholder: label, 'aria-label': label, autocomplete: 'off', ...attributes,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => oninput(node.value), 120);
    },
  });
  return node;
}

function swap(node, ...children) {
  node.replaceChildren(...children.flat(4).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// A tooltip for the pointer; what it says is also in the text of the page or in a label.
function tip(node, text) {
  node.addEventListener('pointerenter', (event) => showTip(event, text));
  node.addEventListener('pointermove', (event) => showTip(event, text));
  node.addEventListener('pointerleave', hideTip);
  return node;
}

function showTip(event, text) {
  const box = byId('tip');
  const content = typeof text === 'function' ? text(event) : text;
  if (!content) return hideTip();
  if (box.textContent !== content) box.textContent = content;
  box.hidden = false;
  const left = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8);
  const below = event.clientY + 18 + box.offsetHeight < window.innerHeight;
  const top = below ? event.clientY + 18 : event.clientY - box.offsetHeight - 12;
  box.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
}

function hideTip() {
  byId('tip').hidden = true;
}
