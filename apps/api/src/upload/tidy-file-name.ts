const MOST = 255;

/**
 * The name of an uploaded file as it is kept: no folders, no control characters (those that turn the direction of writing
 * are among them, since a name is shown), at most 255 characters with the ending kept. `null` when nothing is left.
 */
export const tidyFileName = (given: string | undefined): string | null => {
  const name = (given ?? '')
    .toWellFormed()
    .replace(/^.*[/\\]/s, '')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim();
  if (name === '' || name === '.' || name === '..') return null;
  if (name.length <= MOST) return name;
  const [ending = ''] = /\.[^.]{1,10}$/.exec(name) ?? [];
  return name.slice(0, MOST - ending.length).toWellFormed() + ending;
};
