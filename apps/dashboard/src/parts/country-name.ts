/** The name of a member state in the reader's language. VIES's codes are those of ISO but for Greece and Northern Ireland. */
export const countryName = (code: string): string => {
  if (code === 'XI') return 'Northern Ireland';
  return new Intl.DisplayNames(undefined, { type: 'region' }).of(code === 'EL' ? 'GR' : code) ?? code;
};
