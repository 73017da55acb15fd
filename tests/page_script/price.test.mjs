import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, plain } from './load.mjs';

const { priceOf, plottable, onFront, frontOf, perPoint, setData, state } = load(['priceOf', 'plottable', 'onFront', 'frontOf', 'perPoint'], ['format.js', 'data.js', 'scale.js', 'price.js']);

const row = (share, seconds = 5) => ({ price: { seconds, seconds_computed_share: share, tokens_read: 9 } });

test('seconds are a cost only where all work was computed in this run', () => {
  assert.equal(priceOf(row(1), 'seconds'), 5);
  assert.equal(priceOf(row(null), 'seconds'), 5);
  for (const share of [0, 0.5, 0.99]) assert.equal(priceOf(row(share), 'seconds'), null);
  assert.equal(priceOf(row(0), 'tokens_read'), 9);
});

test('seconds are plotted only where every setting has its own', () => {
  assert.deepEqual(plain(plottable(['tokens_read', 'seconds'], [row(1), row(1)])), ['tokens_read', 'seconds']);
  assert.deepEqual(plain(plottable(['tokens_read', 'seconds'], [row(1), row(0.4)])), ['tokens_read']);
});

test('a setting is on the front where none is as cheap and as good', () => {
  const points = [{ cost: 1, mean: 0.2 }, { cost: 2, mean: 0.2 }, { cost: 2, mean: 0.4 }, { cost: 3, mean: 0.4 }];
  assert.deepEqual(plain(onFront(points)).map((p) => [p.cost, p.mean]), [[1, 0.2], [2, 0.4]]);
  // what finds next to nothing is cheap, and worth less than its price
  assert.deepEqual(plain(onFront([{ cost: 9, mean: 0.01 }, { cost: 10, mean: 0.5 }])).map((p) => p.cost), [10]);
});

test('a measure that cannot compare the settings has no front', () => {
  const points = [{ cost: 1, mean: 0.2 }, { cost: 2, mean: 0.4 }];
  const of = (statistics) => {
    setData({ statistics: { [state.measure]: statistics } });
    return frontOf(points).length;
  };
  assert.equal(of({ verdict: { comparable: false } }), 0);
  assert.equal(of({ verdict: { comparable: true } }), 2);
  assert.equal(of({ why: 'not a measure of quality' }), 2);
});

test('tokens per point are over all queries, also where a part of them is shown', () => {
  const row = (mean) => [mean, null, null, 9, 0, 0];
  setData({ measures: ['ndcg_exp@10'], stages: ['retrieve'], scores: [[[[1]]]], summary: { all: [[[row(0.5)]]], train: [[[row(0.1)]]] } });
  state.split = 'train';
  assert.equal(perPoint({ i: 0, mean: 0.1, price: { tokens_read: 1000 } }), 20);
  state.split = 'all';
});
