// The functions of report.html's script, evaluated without a page: what computes, not what draws.
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';

const ASSETS = new URL('../../harness/report/page/assets/', import.meta.url);

// An element as the text in it.
const element = (_what, _attributes, ...children) => ({
  textContent: children.flat(9).filter((one) => one !== null && one !== undefined && one !== false).map((one) => one.textContent ?? String(one)).join(''),
  querySelectorAll: () => [],
  getContext: () => ({ measureText: (text) => ({ width: 7 * text.length }) }),
});
const PAGE = { document: {}, getComputedStyle: () => ({ fontFamily: 'sans-serif' }), h: element, g: element, foreign: (text) => element('', null, text), table: element, breakable: String, matchMedia: () => ({ addEventListener: () => {} }) };

export function load(names, files = ['format.js', 'data.js', 'scale.js']) {
  const sections = {};
  const section = (one) => { sections[one.id] = one; };
  const context = createContext({ ...PAGE, section, URLSearchParams, state: { measure: 'ndcg_exp@10', stage: 'final', split: 'all', find: '', type: '', factors: '' } });
  const source = files.map((file) => readFileSync(new URL(file, ASSETS), 'utf8')).join('\n');
  runInContext(`${source}\nthis.found = { ${names.join(', ')}, setData: (data) => { DATA = data; } };`, context);
  return { ...context.found, state: context.state, sections };
}

// Arrays of another context have another prototype.
export const plain = (value) => JSON.parse(JSON.stringify(value));
