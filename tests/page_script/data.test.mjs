import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, plain } from './load.mjs';

const { stageOf, summary, score, ranked, pair, queryMatches, setData, state } = load(
  ['stageOf', 'summary', 'score', 'ranked', 'pair', 'queryMatches']);

// two settings, the second with a reranker; three queries; one score is missing
function data() {
  const row = (mean, n = 9) => [mean, mean - 0.1, mean + 0.1, n, 0, 0];
  return {
    measures: ['ndcg_exp@10'],
    settings: ['a', 'b'],
    stages: ['retrieve', 'rerank'],
    scores: [[[[100000, null, 300000], [200000, 200000, 200000]], [null, [900000, 0, 500000]]]],
    summary: { all: [[[row(0.2), row(0.3)], [null, row(0.4)]]], train: [[[row(0.2, 2), null], [null, null]]] },
    queries: { id: ['q1', 'q2', 'q3'], text: ['Net sales?', 'Pump', 'Pump price'], type: ['t', '', 't'], split: ['train', 'train', 'validation'] },
    statistics: { 'ndcg_exp@10': { pairs: { rows: [[0, 1, -0.2, -0.3, -0.1, 0.01, 'worse here', 1, 0, 8], [2, 0, 0.1, 0.0, 0.2, 0.5, 'no difference found', 1, 1, 1]] } } },
  };
}

test('the final stage is the last one that a setting has', () => {
  setData(data());
  assert.equal(stageOf(0), 0);
  assert.equal(stageOf(1), 1);
  assert.equal(stageOf(0, 'rerank'), -1);
  assert.equal(stageOf(1, 'retrieve'), 0);
  assert.equal(stageOf(1, 'unknown'), -1);
});

test('a missing score is null, never zero', () => {
  setData(data());
  assert.equal(score(1, 1, 'ndcg_exp@10', 'rerank'), 0);
  assert.equal(score(0, 1, 'ndcg_exp@10', 'retrieve'), null);
});

test('a handful of queries bounds nothing', () => {
  setData(data());
  assert.deepEqual(plain(summary(0, { stage: 'retrieve', split: 'train' })), { mean: 0.2, low: null, high: null, n: 2, unanswerable: 0, failed: 0 });
  assert.ok(summary(0, { stage: 'retrieve' }).low > 0);
  assert.equal(summary(0, { stage: 'retrieve', split: 'validation' }), null);
});

test('settings rank by mean', () => {
  setData(data());
  assert.deepEqual(plain(ranked('retrieve')), [1, 0]);
});

test('a pair asked for the other way round has its signs turned and its ends swapped', () => {
  setData(data());
  const there = plain(pair(0, 1));
  const back = plain(pair(1, 0));
  assert.equal(back.difference, -there.difference);
  assert.equal(back.low, -there.high);
  assert.equal(back.high, -there.low);
  assert.deepEqual([back.wins, back.losses], [there.losses, there.wins]);
  assert.ok(there.real && back.real);
  assert.deepEqual([there.words, back.words], ['worse here', 'better here']);
  assert.equal(pair(1, 2), null);
  // three queries: no interval
  assert.equal(pair(0, 2).low, null);
});

test('queries are found by id, text and type, within a split', () => {
  setData(data());
  const found = (wanted) => [0, 1, 2].filter((q) => queryMatches(q, { text: '', type: '', split: 'all', ...wanted }));
  assert.deepEqual(found({ text: ' PUMP ' }), [1, 2]);
  assert.deepEqual(found({ text: 'pump', split: 'validation' }), [2]);
  assert.deepEqual(found({ type: 't' }), [0, 2]);
  assert.equal(state.split, 'all');
});
