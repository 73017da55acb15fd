import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, plain } from './load.mjs';

const { ranked, changes, factorsMatch, groupMeans, valueInWords, setData, state } = load(['ranked', 'changes', 'factorsMatch', 'groupMeans', 'valueInWords']);

// the second setting is the first one with a reranker
function data() {
  const row = (mean) => [mean, null, null, 9, 0, 0];
  return {
    measures: ['ndcg_exp@10'], settings: ['a reranked', 'a', 'b'], stages: ['retrieve', 'rerank'],
    retrievals: [0, 0, 2],
    factors: [{ name: 'size', values: [200, 200, null] }],
    scores: [[[[100000, 300000, null], [100000, 300000, null], [200000, 0, 500000]], [[900000, 0, 100000], null, null]]],
    summary: { all: [[[row(0.2), row(0.2), row(0.3)], [row(0.4), null, null]]] },
    queries: { id: ['q1', 'q2', 'q3'], split: ['train', 'train', 'validation'] },
    statistics: {},
  };
}

test('a retrieval that a reranked setting shares is listed once, under the plain setting', () => {
  setData(data());
  assert.deepEqual(plain(ranked('retrieve')), [2, 1]);
  assert.deepEqual(plain(ranked('final')), [0, 2, 1]);
  assert.deepEqual(plain(ranked('rerank')), [0]);
});

test('changes go from the largest gain down and leave out what is equal or not known', () => {
  setData(data());
  const found = plain(changes(0, 1));
  assert.deepEqual(found.map((one) => one.query), [0, 1]);
  assert.ok(Math.abs(found[0].difference - 0.8) < 1e-9 && Math.abs(found[1].difference + 0.3) < 1e-9);
  assert.deepEqual(plain(changes(0, 2, 'validation')).map((one) => one.query), [2]);
});

test('a setting without a factor is found as none, and an unknown factor filters nothing', () => {
  setData(data());
  assert.deepEqual([0, 1, 2].map((i) => factorsMatch(i, 'size=200')), [true, true, false]);
  assert.deepEqual([0, 1, 2].map((i) => factorsMatch(i, 'size=')), [false, false, true]);
  assert.ok(factorsMatch(0, 'colour=red'));
});

test('a value of a factor is said in the words that only its settings have', () => {
  const names = ['500 characters, keyword search', '500 characters, keyword search, reranked', '500 characters, vector search'];
  const [search, rerank] = [['bm25', 'bm25', 'chroma'], [null, 'llm', null]];
  assert.deepEqual(['bm25', 'chroma'].map((value) => valueInWords(search, value, names)), ['keyword search', 'vector search']);
  assert.deepEqual(['llm', ''].map((value) => valueInWords(rerank, value, names)), ['reranked', 'none']);
  // nothing is said of it alone
  assert.equal(valueInWords([200, 200, 300], 200, ['a', 'b', 'c']), 200);
});

test('the mean of a kind leaves out questions without a value or without a kind', () => {
  setData(data());
  state.stage = 'retrieve';
  assert.deepEqual(plain(groupMeans(0, { names: ['x', 'y'], of: [0, 0, 1] })), [{ mean: 0.2, n: 2 }, { mean: null, n: 0 }]);
  assert.deepEqual(plain(groupMeans(2, { names: ['x', 'y'], of: [0, null, 1] })), [{ mean: 0.2, n: 1 }, { mean: 0.5, n: 1 }]);
  state.stage = 'final';
});
