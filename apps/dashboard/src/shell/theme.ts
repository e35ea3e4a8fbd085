/** How the pages look: as the system does, or always the one way. */
export type Theme = 'system' | 'light' | 'dark';

const NAME = 'vat-theme';

const isTheme = (text: string | null): text is Theme => text === 'system' || text === 'light' || text === 'dark';

/** What this browser has chosen. A browser that keeps nothing for us follows its system. */
export const readTheme = (): Theme => {
  try {
    const kept = localStorage.getItem(NAME);
    return isTheme(kept) ? kept : 'system';
  } catch {
    return 'system';
  }
};

/** Shows it at once. */
export const applyTheme = (theme: Theme): void => {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
};

/** Shows it and keeps it for the next visit. */
export const chooseTheme = (theme: Theme): void => {
  applyTheme(theme);
  try {
    localStorage.setItem(NAME, theme);
  } catch {
    // Then it holds until the page is left.
  }
};
