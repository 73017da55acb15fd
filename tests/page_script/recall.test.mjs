import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, plain } from './load.mjs';

const { indexRows, leastMissed, sameIndex, telling, setData } = load(['indexRows', 'leastMissed', 'sameIndex', 'telling'], ['format.js', 'data.js', 'scale.js', 'names.js', 'recall.js']);

const search = (name, time, recall, build_seconds = null) => ({ name, time, recall, build_seconds, index_bytes: 9 });

test('a search is on the front where none is as fast and misses no more', () => {
  const points = [search('a', 1, 0.2), search('b', 2, 0.2), search('c', 2, 0.9), search('d', 3, 0.9), search('e', 9, 1)];
  assert.deepEqual(plain(leastMissed(points)).map((p) => p.name), ['a', 'c', 'e']);
});

test('searches of one index are joined in the order of their effort, and named by it', () => {
  const points = [search('hnsw, ef 64', 3, 0.9, 0.5), search('hnsw, ef 4', 4, 0.4, 0.5), search('ivf, ef 4', 2, 0.7, 0.1), search('exact', 5, 1)];
  const groups = sameIndex(points);
  assert.deepEqual(plain(groups.map((group) => group.map((p) => p.name))), [['hnsw, ef 4', 'hnsw, ef 64']]);
  assert.deepEqual(points.map((p) => telling(p, groups)), ['ef 64', 'ef 4', 'ivf, ef 4', 'exact']);
});

test('only the search of an index counts, not the steps after it', () => {
  const row = (stage, exact_share) => ({ setting: 0, stage, exact_share });
  setData({ settings: ['s'], prices: [row('retrieve', 0.9), row('rerank', 0.9), row('retrieve.bm25', null), row('retrieve.faiss', 0.8)] });
  assert.deepEqual(plain(indexRows()).map((r) => r.stage), ['retrieve', 'retrieve.faiss']);
});
