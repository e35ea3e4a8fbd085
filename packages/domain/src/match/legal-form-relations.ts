/**
 * What the forms of the table have to do with each other, with states, and with the words beside them.
 */

/** The states whose companies write a short form in front of the name. Forms that are missing here may stand there anywhere. */
export const FRONT_STATES: Readonly<Record<string, string>> = {
  ...{ sa: 'FR BE LU EE', sarl: 'FR LU', eurl: 'FR', sas: 'FR', sasu: 'FR', snc: 'FR BE', scs: 'FR BE LU' },
  ...{ sca: 'FR BE LU', sci: 'FR', sc: 'FR', gie: 'FR', scop: 'FR', bv: 'BE', nv: 'BE', vof: 'BE NL', cv: 'BE' },
  ...{ srl: 'BE', asbl: 'BE LU', ou: 'EE', as: 'EE LV', tu: 'EE', uu: 'EE', fie: 'EE', mtu: 'EE', sia: 'LV' },
  ...{
    ik: 'LV',
    ps: 'LV',
    ks: 'LV',
    uab: 'LT',
    ab: 'LT SE FI',
    mb: 'LT',
    'ii lt': 'LT',
    ii: 'RO LT',
    tub: 'LT',
    kub: 'LT',
  },
  ...{ vi: 'LT', hb: 'SE', kb: 'SE LT', oy: 'FI', oyj: 'FI', tmi: 'FI', et: 'BG', sd: 'BG', pfa: 'RO', obrt: 'HR' },
  ...{ ditta: 'IT', gfa: 'FR', sem: 'FR', ute: 'ES', if: 'RO', ra: 'RO', ky: 'FI', ay: 'FI', zs: 'LV', vas: 'LV' },
  ...{
    vsia: 'LV',
    'vi lt': 'LT',
    'si lt': 'LT',
    žub: 'LT',
    earl: 'FR',
    gaec: 'FR',
    scea: 'FR',
    sccv: 'FR',
    scic: 'FR',
  },
  ...{ stichting: 'NL', maatschap: 'NL', 'coop it': 'IT' },
};

/** The states whose companies end with a short form that is a word, an initial or a numeral elsewhere. */
export const END_STATES: Readonly<Record<string, string>> = {
  ...{
    ii: 'RO LT',
    if: 'RO',
    ra: 'RO',
    'coop it': 'IT',
    sal: 'ES',
    sad: 'ES',
    src: 'ES',
    aie: 'ES',
    ute: 'ES',
    sat: 'ES',
  },
  ...{ scom: 'ES', ace: 'PT', em: 'PT', po: 'CZ SK', no: 'SK', oz: 'SK', kht: 'HU', 'ev hu': 'HU', zadruga: 'SI' },
  ...{
    cooperatie: 'NL BE',
    stichting: 'NL',
    maatschap: 'NL',
    scsp: 'LU',
    gfa: 'FR',
    sem: 'FR',
    earl: 'FR',
    gaec: 'FR',
  },
  ...{ scea: 'FR', sccv: 'FR', scic: 'FR', vsia: 'LV', vas: 'LV', 'vi lt': 'LT', 'si lt': 'LT', žub: 'LT', ay: 'FI' },
  ...{ ry: 'FI', smba: 'DK', dzzd: 'BG', dppk: 'BG', cic: 'IE XI', icav: 'IE', aör: 'DE', kdör: 'DE', vvag: 'DE AT' },
};

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
