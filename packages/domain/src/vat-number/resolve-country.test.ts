import { MEMBER_STATES } from '../member-states.js';
import { resolveCountry } from './country.js';

const field = (cleaned: string, countryCode?: string): string => {
  const resolved = resolveCountry(cleaned, countryCode);
  return resolved.kind === 'unresolvable' ? resolved.field : `${resolved.memberState} ${resolved.rest}`;
};
const reason = (cleaned: string, countryCode?: string): string => {
  const resolved = resolveCountry(cleaned, countryCode);
  return resolved.kind === 'unresolvable' ? resolved.reason : 'resolved';
};

describe('resolveCountry without country_code', () => {
  test.each(MEMBER_STATES)('takes %s at the front as the country', (memberState) => {
    expect(field(`${memberState}123`)).toBe(`${memberState} 123`);
  });

  test('reads GR as EL', () => {
    expect(field('GR094259216')).toBe('EL 094259216');
  });

  test.each(['GB', 'UK', 'EU', 'CH', 'NO', 'US', 'IM', 'XK', 'RS', 'TR'])('does not cover %s', (prefix) => {
    expect(field(`${prefix}123456789`)).toBe('vat_number');
    expect(reason(`${prefix}123456789`)).toContain('not covered');
  });

  test.each(['123456789', 'B12345678', 'U12345678', 'QQ123456789', 'ZZ', 'D', '?'])(
    'finds no prefix in %s',
    (cleaned) => {
      expect(field(cleaned)).toBe('vat_number');
      expect(reason(cleaned)).toContain('send country_code');
    },
  );

  test.each(['РL8567346215', 'ΕL094259216', 'PР123'])('names look-alike letters at the front of %s', (cleaned) => {
    expect(field(cleaned)).toBe('vat_number');
    expect(reason(cleaned)).toContain('look like A to Z');
  });

  test('names the scientific notation of a spreadsheet, in a file also beside a country', () => {
    expect(resolveCountry('403033E+10', 'FR')).toMatchObject({ kind: 'resolved' });
    expect(resolveCountry('403033E+10', 'FR', 'column')).toMatchObject({
      kind: 'unresolvable',
      reason: expect.stringContaining('scientific notation'),
    });
    expect(field('123457E+11')).toBe('vat_number');
    expect(reason('123457E+11')).toContain('scientific notation');
  });

  test.each([undefined, 'DE', 'GB'])(
    'asks for the number when nothing is left of it (country_code %s)',
    (countryCode) => {
      expect(field('', countryCode)).toBe('vat_number');
    },
  );
});

describe('resolveCountry with country_code', () => {
  test.each([
    ['123456789', 'DE', 'DE 123456789'],
    ['123456789', ' d-e ', 'DE 123456789'],
    ['094259216', 'gr', 'EL 094259216'],
    ['094259216', 'el', 'EL 094259216'],
    ['U12345678', 'AT', 'AT U12345678'],
    ['B12345678', 'ES', 'ES B12345678'],
    ['HA599', 'XI', 'XI HA599'],
  ])('takes %s with %s as %s', (cleaned, countryCode, expected) => {
    expect(field(cleaned, countryCode)).toBe(expected);
  });

  test.each([
    ['DE123456789', 'de', 'DE 123456789'],
    ['GR094259216', 'EL', 'EL 094259216'],
    ['EL094259216', 'GR', 'EL 094259216'],
    ['FR123456789', 'FR', 'FR 123456789'],
    ['DEDE123456789', 'DE', 'DE DE123456789'],
  ])('takes the prefix off %s with %s, once', (cleaned, countryCode, expected) => {
    expect(field(cleaned, countryCode)).toBe(expected);
  });

  test.each(['', ' ', '\u00A0', '\uFEFF'])('treats a country_code of nothing but separators as none', (countryCode) => {
    expect(field('DE123456789', countryCode)).toBe('DE 123456789');
    expect(field('123456789', countryCode)).toBe('vat_number');
  });

  test.each([
    ['DE123456789', 'FR'],
    ['EL094259216', 'FR'],
    ['BE428759497', 'FR'],
    ['GB123456789', 'FR'],
    ['EU372022452', 'FR'],
    ['FR83404833048', 'DE'],
    ['AT123', 'DE'],
    ['GB123456789', 'XI'],
    ['CH123456789', 'DE'],
  ])('guesses nothing when %s contradicts %s', (cleaned, countryCode) => {
    expect(field(cleaned, countryCode)).toBe('country_code');
    expect(reason(cleaned, countryCode)).toContain(`begins with ${cleaned.slice(0, 2)}`);
  });

  test.each([
    ['AT123456789', 'FR', 'FR AT123456789'],
    ['US123456789', 'FR', 'FR US123456789'],
    ['GD123', 'XI', 'XI GD123'],
  ])(
    'takes the letters of %s as national when they fit %s and no country they name',
    (cleaned, countryCode, expected) => {
      expect(field(cleaned, countryCode)).toBe(expected);
    },
  );

  test.each([
    ['NA', 'DE', 'DE NA'],
    ['NONE', 'FR', 'FR NONE'],
    ['QQ123', 'DE', 'DE QQ123'],
  ])('sees no prefix in %s with %s', (cleaned, countryCode, expected) => {
    expect(field(cleaned, countryCode)).toBe(expected);
  });

  test.each(['GB', 'UK', 'EU', 'CH', 'us'])('does not cover country_code %s', (countryCode) => {
    expect(field('123456789', countryCode)).toBe('country_code');
    expect(field('DE123456789', countryCode)).toBe('country_code');
    expect(reason('123456789', countryCode)).toContain('not covered');
  });

  test.each(['ZZ', 'DEU', 'Germany', '49', '?', 'ΕL'])(
    'knows no country %s, and lists those it knows',
    (countryCode) => {
      expect(field('123456789', countryCode)).toBe('country_code');
      expect(reason('123456789', countryCode)).toContain('AT, BE, BG');
    },
  );
});

describe('resolveCountry with a territory that shares the numbers of a member state', () => {
  test.each([
    ['XI110305878', 'GB', 'XI'],
    ['XI110305878', 'UK', 'XI'],
    ['FR83404833048', 'MC', 'FR'],
    ['FR83404833048', 're', 'FR'],
    ['FI20774740', 'AX', 'FI'],
  ])('reads %s under its prefix where the column of a file says %s', (cleaned, countryCode, memberState) => {
    expect(resolveCountry(cleaned, countryCode, 'column')).toEqual({
      kind: 'resolved',
      memberState,
      rest: cleaned.slice(2),
    });
    expect(field(cleaned, countryCode)).toBe('country_code');
  });

  test.each([
    ['GB123456789', 'GB'],
    ['110305878', 'GB'],
    ['83404833048', 'MC'],
    ['DE136695976', 'GB'],
    ['XI110305878', 'MC'],
  ])('guesses nothing for %s with %s', (cleaned, countryCode) => {
    expect(resolveCountry(cleaned, countryCode, 'column')).toMatchObject({
      kind: 'unresolvable',
      reason: expect.stringContaining('is not covered'),
    });
  });
});

describe('resolveCountry with a label in front', () => {
  test.each([
    ['VATNOIE6388047V', undefined, 'IE 6388047V'],
    ['VATIDDE136695976', undefined, 'DE 136695976'],
    ['USTIDNRDE136695976', undefined, 'DE 136695976'],
    ['UIDATU13585627', undefined, 'AT U13585627'],
    ['N°TVAFR83404833048', undefined, 'FR 83404833048'],
    ['N°DETVAFR83404833048', undefined, 'FR 83404833048'],
    ['PIVA00743110157', 'IT', 'IT 00743110157'],
    ['NIFA28184661', 'ES', 'ES A28184661'],
    ['NIFESA28184661', undefined, 'ES A28184661'],
    ['NIPUEPL8567346215', undefined, 'PL 8567346215'],
    ['BTWNRBE0428759497', undefined, 'BE 0428759497'],
    ['CVRNR13585628', 'DK', 'DK 13585628'],
    ['MOMSREGNRSE556188840401', undefined, 'SE 556188840401'],
    ['DIČCZ25123891', undefined, 'CZ 25123891'],
    ['ΑΦΜEL094259216', undefined, 'EL 094259216'],
    ['ДДСНОМЕРBG175074752', undefined, 'BG 175074752'],
    ['ИНПОДДСBG175074752', undefined, 'BG 175074752'],
    ['НОМЕРПОДДСBG175074752', undefined, 'BG 175074752'],
    ['NRTVARO18547290', undefined, 'RO 18547290'],
    ['CODFISCALRO18547290', undefined, 'RO 18547290'],
    ['NUMERNIPPL8567346215', undefined, 'PL 8567346215'],
    ['PVMMOKĖTOJOKODASLT119511515', undefined, 'LT 119511515'],
    ['USTIDENTIFIKATIONSNUMMERDE136695976', undefined, 'DE 136695976'],
    ['MOMSREGISTRERINGSNUMMERSE556188840401', undefined, 'SE 556188840401'],
    ['TVABTWBE0428759497', undefined, 'BE 0428759497'],
    ['PIVANIT00743110157', undefined, 'IT 00743110157'],
    ['NIVAIT00743110157', undefined, 'IT 00743110157'],
    ['CFPIVAIT00743110157', undefined, 'IT 00743110157'],
    ['TVAINTRAFR83404833048', undefined, 'FR 83404833048'],
    ['PDVIDBROJHR12345678903', undefined, 'HR 12345678903'],
    ['PVNREĢISTRĀCIJASNUMURSLV40003032949', undefined, 'LV 40003032949'],
    ['DAVČNAŠTSI50223054', undefined, 'SI 50223054'],
    ['UIMHIRCBLIE6388047V', undefined, 'IE 6388047V'],
    ['NIFN12345678Z', 'ES', 'ES 12345678Z'],
  ])('takes %s with %s as %s', (cleaned, countryCode, expected) => {
    expect(field(cleaned, countryCode)).toBe(expected);
  });

  test.each([
    ['ITPIVA00743110157', undefined, 'IT 00743110157'],
    ['ESCIFA28184661', undefined, 'ES A28184661'],
    ['PLNIP8567346215', undefined, 'PL 8567346215'],
    ['DKCVRNR13585628', 'DK', 'DK 13585628'],
    ['IEVATNO6388047V', undefined, 'IE 6388047V'],
    ['GRAFM094259216', undefined, 'EL 094259216'],
  ])('takes %s with %s, with its label behind the prefix, as %s', (cleaned, countryCode, expected) => {
    expect(field(cleaned, countryCode)).toBe(expected);
  });

  test('leaves a malformed number with a label behind the prefix as it is', () => {
    expect(field('PLNIP123')).toBe('PL NIP123');
  });

  test.each([
    ['VATNODE12345678', undefined, 'DE 12345678'],
    ['USTIDNRDE12345678', undefined, 'DE 12345678'],
    ['BTWNRBE1234', undefined, 'BE 1234'],
    ['FISCALRO12345678901', undefined, 'RO 12345678901'],
    ['UIDATU1234567', undefined, 'AT U1234567'],
    ['VAT12345678', 'DE', 'DE 12345678'],
    ['VATREGNO123', 'DE', 'DE 123'],
    ['PIVA1234567', 'IT', 'IT 1234567'],
    ['NIFB1234567', 'ES', 'ES B1234567'],
    ['NIP123', 'PL', 'PL 123'],
  ])('takes %s with %s, a malformed number, as %s', (cleaned, countryCode, expected) => {
    expect(field(cleaned, countryCode)).toBe(expected);
  });

  test.each([
    ['VAT123456789', undefined, 'does not begin with a country prefix'],
    ['CVR13585628', undefined, 'does not begin with a country prefix'],
    ['VATGB123456789', undefined, 'begins with GB, which is not covered'],
    ['VATDE136695976', 'FR', 'begins with DE, but country_code says FR'],
  ])('says of %s with %s, after whose label no covered number follows, that it %s', (cleaned, countryCode, reason) => {
    expect(resolveCountry(cleaned, countryCode)).toMatchObject({
      kind: 'unresolvable',
      reason: expect.stringContaining(reason),
    });
  });

  test('never takes letters off a well-formed number', () => {
    // With its French key, this is a number; without the label it would be one, too.
    expect(field('FRNR404833048')).toBe('FR NR404833048');
    expect(field('NIFN8261290D', 'ES')).toBe('ES N8261290D');
  });
});
