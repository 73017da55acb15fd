import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadModule } from './load_module.mjs';

const { characters, units, rangeOf, pieces } = await loadModule('offsets.js');

// 𠀋 and 🚗 are two units each; a lone half is a character of its own, as it is for Python
const TEXTS = ['', 'plain', 'Umsatz: 25,125 €\n', '他𠀋说\r\n🚗🚗 行', 'a\tb\r\n\r\nc', '\ud800x\udc00', '🚗'];

test('characters and units are counted as Python and JavaScript count them', () => {
  for (const text of TEXTS) {
    const all = Array.from(text);
    assert.equal(characters(text), all.length);
    for (let count = 0; count <= all.length; count += 1) {
      const place = all.slice(0, count).join('').length;
      assert.equal(units(text, count), place);
      assert.equal(characters(text, place), count);
    }
  }
});

test('a selection is a range of characters without the white space around it', () => {
  const text = '他𠀋说 \r\n🚗🚗 行';
  assert.deepEqual(rangeOf(text, 1, 3), { start: 1, end: 2, text: '𠀋' });
  assert.deepEqual(rangeOf(text, 4, 12), { start: 6, end: 8, text: '🚗🚗' });
  assert.deepEqual(rangeOf(text, 0, text.length, 1000), { start: 1000, end: 1010, text });
  assert.equal(rangeOf(text, 4, 7), null);
  assert.equal(rangeOf('', 0, 0), null);
});

test('half of a character is taken whole', () => {
  assert.deepEqual(rangeOf('a🚗b', 2, 4), { start: 1, end: 3, text: '🚗b' });
  assert.deepEqual(rangeOf('a🚗b', 0, 2), { start: 0, end: 2, text: 'a🚗' });
});

test('every range found is what Python slices', () => {
  const text = 'Año 𠀋\tTotal\r\n  1,200 🚗\n\nend';
  const all = Array.from(text);
  for (let from = 0; from <= text.length; from += 1) {
    for (let to = from + 1; to <= text.length; to += 1) {
      const found = rangeOf(text, from, to, 7);
      if (found) assert.equal(all.slice(found.start - 7, found.end - 7).join(''), found.text);
    }
  }
});

test('pieces joined are the text, and each range is a run of whole pieces', () => {
  const text = '他𠀋说 🚗 行了';
  const ranges = [{ start: 101, end: 105, name: 'a' }, { start: 104, end: 107, name: 'b' }, { start: 103, end: 103, name: 'none' }];
  const found = pieces(text, ranges, 100);
  assert.equal(found.map((one) => one.text).join(''), text);
  const of = (name) => found.filter((one) => one.of.includes(name)).map((one) => one.text).join('');
  assert.equal(of('a'), Array.from(text).slice(1, 5).join(''));
  assert.equal(of('b'), Array.from(text).slice(4, 7).join(''));
  assert.equal(of('none'), '');
  assert.deepEqual(pieces('', []), []);
});
