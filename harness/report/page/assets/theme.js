// The theme of a page: the system's, until the reader asks for another.

const THEMES = ['system', 'light', 'dark'];

export const NEEDS = 'it needs a browser from mid-2024 or later';

// Whether the browser knows the colours of theme.css. One that does not drops them all without a word.
export function hasColours() {
  return CSS.supports('color', 'light-dark(red, red)');
}

// What a browser keeps for a page; it may keep nothing, as for one opened from disk, and the page works without it.
export function stored(area, key, value) {
  try {
    if (value !== undefined) area().setItem(key, value);
    return area().getItem(key) ?? '';
  } catch {
    return '';
  }
}

function theme() {
  return document.documentElement.dataset.theme || 'system';
}

// The theme that was chosen last, or another if one is named; returns the one in force.
export function useTheme(name = stored(() => localStorage, 'harness-theme')) {
  if (name === 'light' || name === 'dark') document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  stored(() => localStorage, 'harness-theme', theme());
  return theme();
}

export function turnTheme() {
  return useTheme(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
}
