/** The color scheme: that of the system, or a fixed one. */
export type Theme = 'system' | 'light' | 'dark';

const NAME = 'vat-theme';

const isTheme = (text: string | null): text is Theme => text === 'system' || text === 'light' || text === 'dark';

/** The theme stored in this browser; `system` when none is stored or storage is unavailable. */
export const readTheme = (): Theme => {
  try {
    const stored = localStorage.getItem(NAME);
    return isTheme(stored) ? stored : 'system';
  } catch {
    return 'system';
  }
};

/** Applies the theme to the document. */
export const applyTheme = (theme: Theme): void => {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
};

/** Applies the theme and stores it for the next visit. */
export const chooseTheme = (theme: Theme): void => {
  applyTheme(theme);
  try {
    localStorage.setItem(NAME, theme);
  } catch {
    // Storage is unavailable; the theme applies until the page is closed.
  }
};
