/** Spaces of any kind, control characters, and what nobody sees: zero-width characters, byte order marks, Braille blanks. */
const BLANK = /^[\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** The printable characters of ASCII, which nearly every cell begins with: the pattern need not be tried on them. */
const FIRST_VISIBLE = 0x21;
const LAST_VISIBLE = 0x7e;

/** Whether a person who looks at the cell sees nothing. */
export const isBlank = (text: string): boolean => {
  if (text === '') return true;
  const first = text.charCodeAt(0);
  return !(first >= FIRST_VISIBLE && first <= LAST_VISIBLE) && BLANK.test(text);
};
