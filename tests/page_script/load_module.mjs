// A module of the labelling page that imports nothing, whatever this version of node takes a .js file for.
import { readFileSync } from 'node:fs';

const ASSETS = new URL('../../harness/labels/label_page/assets/', import.meta.url);

export function loadModule(name) {
  const source = readFileSync(new URL(name, ASSETS), 'utf8');
  return import(`data:text/javascript,${encodeURIComponent(source)}`);
}
