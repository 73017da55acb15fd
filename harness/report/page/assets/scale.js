// From values to places and colours.

function linear(from, to, start, end) {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

// Round numbers that cover a range: [low, high, ticks].
function nice(low, high, most = 6) {
  if (!(high > low)) {
    low -= 0.05;
    high = low + 0.1;
  }
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough - 1e-12);
  const first = Math.floor(low / step + 1e-9) * step;
  const last = Math.ceil(high / step - 1e-9) * step;
  const ticks = [];
  for (let i = 0; first + i * step <= last + step / 2; i += 1) ticks.push(Number((first + i * step).toPrecision(12)));
  return [ticks[0], ticks[ticks.length - 1], ticks];
}

// The range of scores a set of summaries needs, within 0 to 1 where they are.
function scoreRange(rows, most = 6) {
  const values = rows.flatMap((row) => (row ? [row.mean, row.low, row.high] : [])).filter(known);
  if (!values.length) return [0, 1, [0, 0.5, 1]];
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = Math.max((high - low) * 0.06, 0.01);
  const [from, to, ticks] = nice(Math.max(low - room, Math.min(low, 0)), Math.min(high + room, Math.max(high, 1)), most);
  return [from, to, ticks];
}

function tickText(ticks) {
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : 1;
  const digits = step >= 1 ? 0 : Math.min(4, Math.ceil(-Math.log10(step) - 1e-9));
  return (value) => fixed(value, digits);
}

function parseColor(rgb) {
  return rgb.match(/\d+/g).map(Number);
}

// A ramp through the colours of the theme named --ramp-0 … --ramp-n.
function ramp(name, steps) {
  const stops = Array.from({ length: steps }, (_, i) => parseColor(color(`${name}-${i}`)));
  return (share) => {
    const at = Math.min(Math.max(share, 0), 1) * (steps - 1);
    const i = Math.min(Math.floor(at), steps - 2);
    const mixed = stops[i].map((part, k) => Math.round(part + (at - i) * (stops[i + 1][k] - part)));
    return `rgb(${mixed.join(' ')})`;
  };
}

// Dark or light text, whichever reads better on an rgb() colour (relative luminance as in WCAG 2).
function inkOn(rgb) {
  const [r, v, b] = parseColor(rgb).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * v + 0.0722 * b > 0.18 ? '#14181c' : '#ffffff';
}
