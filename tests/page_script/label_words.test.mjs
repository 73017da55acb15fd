import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadModule } from './load_module.mjs';

const { blocks, captions, counted, duration, nameOf, undoneDecision, undoneMark } = await loadModule('words.js');

test('a time is said as roughly as it is known', () => {
  assert.deepEqual([12, 60, 1500, 3600, 5400, 7180, 7200].map(duration), ['less than a minute', 'about 1 min', 'about 25 min', 'about 1 h', 'about 1 h 30 min', 'about 2 h', 'about 2 h']);
  assert.equal(duration(null), '');
});

test('guidelines are headings, lists and paragraphs', () => {
  assert.deepEqual(blocks('\ufeff# Head\r\nFirst line\nsecond\n\n- one\n  goes on\n- two\nlast'), [
    { kind: 'heading', text: 'Head' }, { kind: 'text', text: 'First line second' }, { kind: 'list', items: ['one goes on', 'two last'] },
  ]);
  assert.deepEqual(blocks('<b>text</b>'), [{ kind: 'text', text: '<b>text</b>' }]);
  assert.deepEqual(blocks(''), []);
});

test('captions come from the guidelines, and are the usual ones where these have no scale', () => {
  const shipped = readFileSync(new URL('../../harness/labels/label_page/assets/guidelines.md', import.meta.url), 'utf8');
  assert.deepEqual(captions(shipped), ['has nothing to do with the question', 'is about the subject of the question', 'holds part of the answer', 'answers the main part of the question', 'answers the question completely']);
  assert.deepEqual(captions('- 4 – ja\n- 3 – fast\n- 2 – teils\n- 1 – Thema\n- 0 – nein'), ['nein', 'Thema', 'teils', 'fast', 'ja']);
  assert.equal(captions('- 4: only one grade')[4], 'complete answer');
  assert.ok(captions(`- 4: ${'x'.repeat(90)}\n- 3: b\n- 2: c\n- 1: d\n- 0: e`)[4].length <= 60);
});

test('evidence without a name is called by its first words', () => {
  assert.equal(nameOf('Total  revenue\nof 2025'), 'Total revenue of 2025');
  assert.equal(nameOf('As of December 31, 2025, we employed 39,717 people worldwide.'), 'As of December 31, 2025, we employed');
  assert.equal(Array.from(nameOf('𠀋'.repeat(50))).length, 40);
});

test('one is singular', () => {
  assert.deepEqual([counted(0, 'mark'), counted(1, 'mark'), counted(10000, 'mark')], ['0 marks', '1 mark', '10,000 marks']);
});

test('an undone mark is removed, or restored with its grade', () => {
  assert.equal(undoneMark({ text: 'closed', rating: { grade: null } }), 'the mark “closed” was removed');
  assert.equal(undoneMark({ text: 'closed', rating: { grade: 0 } }), 'the mark “closed” was restored, with grade 0');
});

test('an undone resolution says what counts now', () => {
  assert.equal(undoneDecision(null), 'your resolution was undone, so the difference is open again');
  assert.equal(undoneDecision({ rater: 'Cid', grade: 2 }), 'your resolution was undone; that of Cid counts, 2');
});
