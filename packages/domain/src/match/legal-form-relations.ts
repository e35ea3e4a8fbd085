/**
 * What the forms of the table have to do with each other, with states, and with the words beside them.
 */

/** The states of every form in a table with one line a state: `FR: sarl, sas`. */
const statesOfForms = (table: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const states = new Map<string, Set<string>>();
  for (const line of table.trim().split('\n')) {
    const [state = '', forms = ''] = line.trim().split(': ');
    for (const form of forms.split(', ')) states.set(form, (states.get(form) ?? new Set()).add(state));
  }
  return states;
};

/** The states whose companies write a short form in front of the name. Forms that are missing here may stand there anywhere. */
export const FRONT_STATES = statesOfForms(`
  BE: sa, snc, scs, sca, bv, nv, vof, cv, srl, asbl
  BG: et, sd
  EE: sa, ou, as, tu, uu, fie, mtu
  ES: ute
  FI: ab, oy, oyj, tmi, ky, ay
  FR: sa, sarl, eurl, sas, sasu, snc, scs, sca, sci, sc, gie, scop, gfa, sem, earl, gaec, scea, sccv, scic
  HR: obrt
  IT: ditta, coop it
  LT: uab, ab, mb, ii lt, ii, tub, kub, vi, kb, vi lt, si lt, žub
  LU: sa, sarl, scs, sca, asbl
  LV: as, sia, ik, ps, ks, zs, vas, vsia
  NL: vof, stichting, maatschap
  RO: ii, pfa, if, ra
  SE: ab, hb, kb
`);

/** The states whose companies end with a short form that is a word, an initial or a numeral elsewhere. */
export const END_STATES = statesOfForms(`
  AT: vvag
  BE: cooperatie
  BG: dzzd, dppk
  CZ: po
  DE: aör, kdör, vvag
  DK: smba
  ES: sal, sad, src, aie, ute, sat, scom
  FI: ay, ry
  FR: gfa, sem, earl, gaec, scea, sccv, scic
  HU: kht, ev hu
  IE: cic, icav
  IT: coop it
  LT: ii, vi lt, si lt, žub
  LU: scsp
  LV: vsia, vas
  NL: cooperatie, stichting, maatschap
  PT: ace, em
  RO: ii, if, ra
  SI: zadruga
  SK: po, no, oz
  XI: cic
`);

/**
 * Forms between which a company changes without becoming another one, such as EOOD to OOD when a second shareholder joins.
 * Names that differ in nothing else agree, but do not reach 100.
 */
export const RELATED_FORMS: readonly (readonly string[])[] = [
  ['gmbh', 'ug', 'flexkapg'],
  ['sarl', 'eurl', 'sarl-s'],
  ['sas', 'sasu'],
  ['sa', 'sau', 'sal'],
  ['sl', 'slu', 'slp'],
  ['srl', 'srls', 'srl-d'],
  ['lda', 'unipessoal'],
  ['eood', 'ood'],
  ['ead', 'ad'],
  ['doo', 'jdoo'],
  ['ltd', 'dac'],
  ['zrt', 'nyrt', 'rt'],
  ['oy', 'oyj'],
  ['ab', 'abp'],
  ['ek', 'eu'],
];

/** Names of one form in the languages of a state, or in English where its companies write so. By VIES's country code. */
export const FORM_TRANSLATIONS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  BE: [
    ['bv', 'srl', 'sl'],
    ['nv', 'sa'],
    ['cv', 'sc', 'sc pl', 'coop it'],
    ['vof', 'snc'],
  ],
  BG: [
    ['ood', 'ltd', 'llc'],
    ['eood', 'ltd', 'llc'],
    ['ad', 'jsc', 'plc'],
    ['ead', 'jsc', 'plc'],
  ],
  EL: [
    ['ae', 'sa'],
    ['epe', 'ltd', 'llc'],
    ['ike', 'pc'],
    ['oe', 'gp'],
    ['ee', 'lp'],
  ],
  CY: [['ltd', 'epe']],
  CZ: [['sp', 'sp cz']],
  DK: [['ps', 'ps dk']],
  EE: [['sa', 'sa ee']],
  ES: [
    ['sl', 'srl'],
    ['sc es', 'sc', 'sc pl'],
    ['scoop', 'sca', 'coop it'],
  ],
  FI: [
    ['oy', 'ab', 'ltd'],
    ['oyj', 'abp', 'plc'],
  ],
  HU: [['ev', 'ev hu']],
  IT: [['sas it', 'sas']],
  LT: [
    ['uab', 'ltd'],
    ['ii', 'ii lt'],
    ['kb', 'kb lt'],
  ],
  LU: [
    ['sc', 'sc pl'],
    ['cv', 'scoop'],
  ],
  LV: [
    ['sia', 'ltd'],
    ['ks', 'koop lv'],
  ],
  NL: [['cv', 'scs']],
  PT: [
    ['ei', 'eirl pt'],
    ['epe', 'epe pt'],
    ['crl', 'coop it'],
  ],
  SE: [['ab', 'abp']],
  SI: [['spzoo', 'zadruga']],
  SK: [['sp', 'sp cz']],
};

/** Words beside a legal form that say nothing about it or the name: sole shareholder, liquidation. */
export const FORM_REMARKS: readonly string[] = [
  'unipersonale | a socio unico | con socio unico | con unico socio | socio unico | sociedad unipersonal',
  'unipersonal | unipersonnelle | à associé unique | en liquidation | in liquidation | i.L. | i.Liqu.',
  'in liquidazione | en liquidación | em liquidação | v likvidaci | v likvidácii | w likwidacji | v likvidaciji',
  'u likvidaciji | u stečaju | v stečaju | v konkurze | in vereffening | i likvidation | likviduojama',
  'likvidējamā | v insolvenci | f.a. | publ | under konkurs | under tvangsopløsning',
  'under frivillig likvidation | i konkurs | végelszámolás alatt | v.a. | în lichidare | в ликвидация',
  'i.o. | in oprichting | società tra professionisti | società benefit',
  'υπό εκκαθάριση | likvideerimisel | in faillimento | w upadłości | μονοπρόσωπη | μον | a r.l. unipersonale',
].flatMap((line) => line.split(' | '));

/** What may stand in front of a name that ends with a form: the form's second half, or the word for a company. */
export const FORM_IN_FRONT: Readonly<Record<string, readonly string[]>> = {
  ...{ ab: ['oy'], abp: ['oyj', 'oy'], cooperatie: ['cooperatie'] },
  ...{ srl: ['sc', 'societatea comerciala', 'societatea'], 'srl-d': ['sc', 'societatea comerciala', 'societatea'] },
  ...{ sa: ['sc', 'societatea comerciala', 'societatea'] },
};
