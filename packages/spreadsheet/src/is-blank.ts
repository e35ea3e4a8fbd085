/** Spaces of any kind, control characters, and what nobody sees: zero-width characters, byte order marks, Braille blanks. */
const BLANK = /^[\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Whether a person who looks at the cell sees nothing. */
export const isBlank = (text: string): boolean => text === '' || BLANK.test(text);
