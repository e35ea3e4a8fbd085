import { MEMBER_STATES, type MemberState } from '../member-states.js';
import { COUNTRIES } from './countries.js';
import { readVatNumber } from './read-vat-number.js';

/** As written → as looked up. Public numbers of companies, from imprints and the documentation of VAT libraries. */
const WELL_FORMED: Record<MemberState, [string, string][]> = {
  AT: [
    ['ATU 142 43 102', 'ATU14243102'],
    ['atu13585627', 'ATU13585627'],
    ['ATU00000024', 'ATU00000024'],
    ['AT 61195628', 'ATU61195628'],
    ['AT-U.6503/4704', 'ATU65034704'],
  ],
  BE: [
    ['BE 0202.239.951', 'BE0202239951'],
    ['BE 444.503.092', 'BE0444503092'],
    ['BE413562567', 'BE0413562567'],
    ['BE1000000035', 'BE1000000035'],
    ['BE-0428-759-497', 'BE0428759497'],
  ],
  BG: [
    ['BG 103873594', 'BG103873594'],
    ['BG 124 551 319', 'BG124551319'],
    ['BG7111042925', 'BG7111042925'],
    ['BG000694037', 'BG000694037'],
    ['Bg 200442771', 'BG200442771'],
  ],
  CY: [
    ['CY-10277198H', 'CY10277198H'],
    ['CY-10008489 A', 'CY10008489A'],
    ['CY00632993 F', 'CY00632993F'],
    ['CY632993F', 'CY00632993F'],
    ['cy10259033p', 'CY10259033P'],
  ],
  CZ: [
    ['CZ 60 72 77 72', 'CZ60727772'],
    ['CZ 640229/4448', 'CZ6402294448'],
    ['CZ 640903926', 'CZ640903926'],
    ['CZ00023205', 'CZ00023205'],
    ['CZ450 33 145', 'CZ45033145'],
  ],
  DE: [
    ['DE 221.304.969', 'DE221304969'],
    ['DE - 113866163', 'DE113866163'],
    ['DE 813 11 38 75', 'DE813113875'],
    ['de136695976', 'DE136695976'],
    ['DE 999999999', 'DE999999999'],
  ],
  DK: [
    ['DK 10 50 32 80', 'DK10503280'],
    ['DK-20 04 52 72', 'DK20045272'],
    ['DK 2566 2202', 'DK25662202'],
    ['DK13585628', 'DK13585628'],
    ['dk10150817', 'DK10150817'],
  ],
  EE: [
    ['EE 100 931 558', 'EE100931558'],
    ['EE100523487', 'EE100523487'],
    ['EE 101286639', 'EE101286639'],
    ['ee101256753', 'EE101256753'],
    ['EE-100594102', 'EE100594102'],
  ],
  EL: [
    ['EL 094012834', 'EL094012834'],
    ['GR094259216', 'EL094259216'],
    ['EL 94051189', 'EL094051189'],
    ['gr 94259216', 'EL094259216'],
    ['El 800 179 925', 'EL800179925'],
  ],
  ES: [
    ['ES A-28184661', 'ESA28184661'],
    ['ES Q-2818015-F', 'ESQ2818015F'],
    ['ES-x-2482300w', 'ESX2482300W'],
    ['ES 54362315K', 'ES54362315K'],
    ['ES1234567L', 'ES01234567L'],
    ['ES W4003922D', 'ESW4003922D'],
  ],
  FI: [
    ['FI 0982651-1', 'FI09826511'],
    ['FI- 01968312', 'FI01968312'],
    ['FI 1968312', 'FI01968312'],
    ['FI-214 95 540', 'FI21495540'],
    ['fi20774740', 'FI20774740'],
  ],
  FR: [
    ['FR 83 404 833 048', 'FR83404833048'],
    ['FR K 7399859412', 'FRK7399859412'],
    ['FR4Z123456782', 'FR4Z123456782'],
    ['FR 4409414364', 'FR04409414364'],
    ['FRAB123456789', 'FRAB123456789'],
    ['FR16000063601', 'FR16000063601'],
  ],
  HR: [
    ['HR 33392005961', 'HR33392005961'],
    ['HR 333-920-059-61', 'HR33392005961'],
    ['HR93634429487', 'HR93634429487'],
    ['HR00045103869', 'HR00045103869'],
    ['hr 45103869', 'HR00045103869'],
  ],
  HU: [
    ['HU -12509403', 'HU12509403'],
    ['HU 10672101', 'HU10672101'],
    ['HU-10402434', 'HU10402434'],
    ['hu64241281', 'HU64241281'],
    ['HU12892312', 'HU12892312'],
  ],
  IE: [
    ['IE 6433435F', 'IE6433435F'],
    ['IE6433435OA', 'IE6433435OA'],
    ['IE8D79739I', 'IE8D79739I'],
    ['ie 632 3420 C', 'IE6323420C'],
    ['IE3628739UA', 'IE3628739UA'],
    ['IE8+12345W', 'IE8+12345W'],
    ['IE8*12345W', 'IE8*12345W'],
    ['IE1234567FW', 'IE1234567FW'],
  ],
  IT: [
    ['IT 00 595 000 217', 'IT00595000217'],
    ['IT743110157', 'IT00743110157'],
    ['IT-01626160210', 'IT01626160210'],
    ['IT 12920760159', 'IT12920760159'],
    ['it 0 0 6 1 8 2 8 0 4 9 9', 'IT00618280499'],
  ],
  LT: [
    ['LT 119511515', 'LT119511515'],
    ['LT 100001354118', 'LT100001354118'],
    ['LT-100000979812', 'LT100000979812'],
    ['LT290061371314', 'LT290061371314'],
    ['lt616414610', 'LT616414610'],
  ],
  LU: [
    ['LU 150 274 42', 'LU15027442'],
    ['LU.248.70.640', 'LU24870640'],
    ['LU 22 22 12 68', 'LU22221268'],
    ['Lu 19980500', 'LU19980500'],
    ['LU10059929', 'LU10059929'],
  ],
  LV: [
    ['LV 4000 3521 600', 'LV40003521600'],
    ['LV-42103048183', 'LV42103048183'],
    ['LV 5000 399 3021', 'LV50003993021'],
    ['LV16117519997', 'LV16117519997'],
    ['LV 7091910933', 'LV07091910933'],
  ],
  MT: [
    ['MT 1167-9112', 'MT11679112'],
    ['MT 1465 8213', 'MT14658213'],
    ['MT 2029 1423', 'MT20291423'],
    ['mt17025737', 'MT17025737'],
    ['MT19784818', 'MT19784818'],
  ],
  NL: [
    ['NL 8225.69.759 b01', 'NL822569759B01'],
    ['NL4495445B01', 'NL004495445B01'],
    ['NL.0094.10.806.B.01', 'NL009410806B01'],
    ['NL001452330B47', 'NL001452330B47'],
    ['NL 123456B01', 'NL000123456B01'],
    ['NL000099998B57', 'NL000099998B57'],
  ],
  PL: [
    ['PL 584-030-44-72', 'PL5840304472'],
    ['PL 777 26 68 285', 'PL7772668285'],
    ['PL 8567346215', 'PL8567346215'],
    ['pl5261025421', 'PL5261025421'],
    ['PL-951-157-77-68', 'PL9511577768'],
  ],
  PT: [
    ['PT 501 964 843', 'PT501964843'],
    ['PT 500135.495', 'PT500135495'],
    ['PT-505 856 468', 'PT505856468'],
    ['pt502448911', 'PT502448911'],
    ['PT503038083', 'PT503038083'],
  ],
  RO: [
    ['RO 185 472 90', 'RO18547290'],
    ['RO18', 'RO18'],
    ['RO 573768', 'RO573768'],
    ['RO-27849238', 'RO27849238'],
    ['Ro1234567890', 'RO1234567890'],
  ],
  SE: [
    ['SE 202 100-5000 01', 'SE202100500001'],
    ['SE 556.383.740.901', 'SE556383740901'],
    ['SE-556 644 662 001', 'SE556644662001'],
    ['SE556188840402', 'SE556188840402'],
    ['SE10203123401', 'SE010203123401'],
  ],
  SI: [
    ['SI 3609 7152', 'SI36097152'],
    ['SI-83815201', 'SI83815201'],
    ['SI 50223054', 'SI50223054'],
    ['si92351069', 'SI92351069'],
    ['SI26808498', 'SI26808498'],
  ],
  SK: [
    ['SK 202 274 96 19', 'SK2022749619'],
    ['SK 2020 237 945', 'SK2020237945'],
    ['SK 1078449064', 'SK1078449064'],
    ['sk2021853504', 'SK2021853504'],
    ['SK7120000000', 'SK7120000000'],
  ],
  XI: [
    ['XI 432 5251 79', 'XI432525179'],
    ['XI 980 7806 84', 'XI980780684'],
    ['XI432525179001', 'XI432525179001'],
    ['xi GD 123', 'XIGD123'],
    ['XI HA 599', 'XIHA599'],
  ],
};

/** After the prefix. Too short, too long, a letter where a digit belongs, what the country never issues. */
const MALFORMED: Record<MemberState, string[]> = {
  AT: ['U1234567', 'U123456789', '1234567', 'X12345678', 'U1515B209', '123456789'],
  BE: ['2428759497', '04287594977', '28759497', '02A2239951', '999999999B'],
  BG: ['12345678', '12345678901', '10X873594', '1', 'A123456789'],
  CY: ['123456789', '1025903322', 'P10259033', '102590333P', '1234P', '102590Z3P'],
  CZ: ['1234567', '12345678901', '1234567A', '25123891000000', 'CZ2512389'],
  DE: ['12345678', '1234567890', '011125440', '12345678A', '1', '246X59541'],
  DK: ['1234', '123456789', '1234567A', 'A1234567', '0'],
  EE: ['12345678', '1234567890', '10093155A', '1', 'EE1009315'],
  EL: ['12345', '1234567890', '09425921A', 'A94259216', '1'],
  ES: ['123456789', 'A2818466', 'A281846610', 'AA1234567', '1234K', 'B-58378431-2'],
  FI: ['1234', '123456789', '2077474A', 'A0774740', '1'],
  FR: ['404833048', 'I1404833048', '1O404833048', '834048330489', '83404833A48', '123'],
  HR: ['1234567', '333920059610', '3339200596A', 'A3392005961', '1'],
  HU: ['1234', '123456789', '1289231A', '10672101-2-44', '1'],
  IE: ['1234567', '12345678', '123456A', '1234567X', '1234567FAA', 'A123456F', '4550C59S'],
  IT: ['1234567', '007431101570', '0074311015A', 'RSSMRA70A01', '1'],
  LT: ['12345678', '1234567890', '12345678901', '1195115151234', '11951151A'],
  LU: ['1234', '123456789', '1502744A', 'A5027442', '1'],
  LV: ['123456789', '400035216000', '4000352160A', 'A0003521600', '1'],
  MT: ['1234567', '123456789', '01679112', '1167911A', '1'],
  NL: ['123456789', '004495445A01', '004495445B1', '12345B01', '006866304B021', 'B06753742B01', '001241643801'],
  PL: ['123456', '85673462150', '856734621A', 'A567346215', '1'],
  PT: ['12345', '5019648430', '50196484A', 'A01964843', '1'],
  RO: ['1', '12345678901', '1854729A', '012345678', '1630615123457'],
  SE: ['5561888404', '556188840400', '5561888404011', '55618884040A', '1'],
  SI: ['1234567', '123456789', '05022305', '5022305A', '1'],
  SK: ['123456789', '12345678901', '0122749619', 'A078449064', '1'],
  XI: ['12345678', '1234567890', '12345678901', 'GD12', 'HA1234', 'XX123', 'GB123456789'],
};

const wellFormed = MEMBER_STATES.flatMap((memberState) =>
  WELL_FORMED[memberState].map(([input, vatNumber]) => ({
    memberState,
    input,
    vatNumber,
    national: vatNumber.slice(2),
  })),
);
const malformed = MEMBER_STATES.flatMap((memberState) => MALFORMED[memberState].map((rest) => ({ memberState, rest })));

describe('readVatNumber on numbers in the form of their country', () => {
  test.each(wellFormed)('reads $input as $vatNumber', ({ memberState, input, vatNumber, national }) => {
    expect(readVatNumber(input)).toMatchObject({ kind: 'well_formed', memberState, national, vatNumber });
  });

  test.each(wellFormed)(
    'reads $national with country_code $memberState as $vatNumber',
    ({ memberState, national, vatNumber }) => {
      expect(readVatNumber(national, memberState)).toEqual(readVatNumber(vatNumber));
    },
  );

  test('has at least five of every country, and five malformed', () => {
    for (const memberState of MEMBER_STATES) {
      expect(WELL_FORMED[memberState].length).toBeGreaterThanOrEqual(5);
      expect(MALFORMED[memberState].length).toBeGreaterThanOrEqual(5);
    }
  });
});

describe('readVatNumber on numbers that do not fit their country', () => {
  test.each(malformed)('finds $memberState $rest malformed, with and without its prefix', ({ memberState, rest }) => {
    const read = readVatNumber(memberState + rest);
    expect(read).toMatchObject({ kind: 'malformed', memberState, reason: COUNTRIES[memberState].form });
    expect(readVatNumber(memberState + rest, memberState)).toEqual(read);
  });

  test('names the form of the country', () => {
    expect(readVatNumber('FI1')).toMatchObject({ kind: 'malformed', reason: 'FI numbers have 8 digits.' });
  });

  test.each(['100', '200', '201', '601', '700', '701'])("keeps VIES's test number %s as it is", (national) => {
    for (const memberState of MEMBER_STATES) expect(readVatNumber(memberState + national)).toMatchObject({ national });
  });

  test.each([
    ['DE123[456]789', 'DE123?456?789'],
    ['DE= 123456789', 'DE?123456789'],
    ['DE١٢٣٤٥٦٧٨٩', 'DE?????????'],
    ['DE12345678О', 'DE12345678?'],
    ['DE12345678😀', 'DE12345678?'],
    ['DE', 'DE'],
    [`DE${'9'.repeat(60)}`, `DE${'9'.repeat(38)}`],
    [`DE${'\uFDFA'.repeat(38)}`, `DE${'?'.repeat(38)}`],
  ])('shows %s as %s, so that no character left out makes another number of it', (input, vatNumber) => {
    expect(readVatNumber(input)).toMatchObject({ kind: 'malformed', vatNumber, national: vatNumber.slice(2) });
  });
});

describe('readVatNumber without a covered country', () => {
  test('names the field to correct, and how', () => {
    expect(readVatNumber('123456789')).toEqual({
      kind: 'unresolvable',
      field: 'vat_number',
      reason: 'The number does not begin with a country prefix: add it (such as DE) or send country_code.',
    });
    expect(readVatNumber('123456789', 'CH')).toEqual({
      kind: 'unresolvable',
      field: 'country_code',
      reason: 'CH is not covered: send a number of one of the 27 EU member states or of Northern Ireland (XI).',
    });
  });

  test.each(['GB999999973', 'EU372022452', 'CHE-116.281.710 MWST', 'NO 974 760 673 MVA', 'n/a', '', '  ', '-'])(
    'finds no covered country in "%s"',
    (input) => {
      expect(readVatNumber(input).kind).toBe('unresolvable');
    },
  );
});

describe('readVatNumber on numbers as people paste them', () => {
  test.each([
    ['DK: 21599336', undefined, 'DK21599336'],
    ['BE (0)468.561.072', undefined, 'BE0468561072'],
    ['VAT No. IE 6388047V', undefined, 'IE6388047V'],
    ['VAT ID: DE 136 695 976', undefined, 'DE136695976'],
    ['USt-IdNr.: DE136695976', undefined, 'DE136695976'],
    ['UID: ATU 135 85 627', undefined, 'ATU13585627'],
    ['UID-Nr. ATU13585627', 'AT', 'ATU13585627'],
    ['TVA FR 83 404 833 048', undefined, 'FR83404833048'],
    ['N° TVA : FR83 404833048', undefined, 'FR83404833048'],
    ['n° de TVA intracom. FR83404833048', undefined, 'FR83404833048'],
    ['P.IVA 00743110157', 'IT', 'IT00743110157'],
    ['Partita IVA: IT 00743110157', undefined, 'IT00743110157'],
    ['NIF: ESA28184661', undefined, 'ESA28184661'],
    ['NIF A-28184661', 'es', 'ESA28184661'],
    ['NIP UE: PL 856-734-62-15', undefined, 'PL8567346215'],
    ['NIP 856-734-62-15', 'PL', 'PL8567346215'],
    ['BTW BE 0428.759.497', undefined, 'BE0428759497'],
    ['KBO 0428.759.497', 'BE', 'BE0428759497'],
    ['BCE/KBO: BE 0428.759.497', undefined, 'BE0428759497'],
    ["N° d'entreprise 0428.759.497", 'BE', 'BE0428759497'],
    ['Ondernemingsnummer BE0428759497', undefined, 'BE0428759497'],
    ['BTW-nr. NL004495445B01', undefined, 'NL004495445B01'],
    ['CVR-nr. 13585628', 'DK', 'DK13585628'],
    ['Moms: DK13585628', undefined, 'DK13585628'],
    ['SE-nr. DK13585628', undefined, 'DK13585628'],
    ['ATU-Nr.: ATU13585627', undefined, 'ATU13585627'],
    ['ATU-Nummer 13585627', 'AT', 'ATU13585627'],
    ['SE-nummer: 13585628', 'DK', 'DK13585628'],
    ['CVR/SE-nr.: DK 13585628', undefined, 'DK13585628'],
    ['Momsreg.nr. SE556188840401', undefined, 'SE556188840401'],
    ['DIČ: CZ25123891', undefined, 'CZ25123891'],
    ['ΑΦΜ: EL 094259216', undefined, 'EL094259216'],
    ['VAT Reg. No.: IE8Z49289F', undefined, 'IE8Z49289F'],
    ['VAT (IE) 1+23456A', undefined, 'IE1+23456A'],
    ["DE'136'695'976", undefined, 'DE136695976'],
    ['VAT; DE136695976,', undefined, 'DE136695976'],
  ])('reads %s with country_code %s as %s', (input, countryCode, vatNumber) => {
    expect(readVatNumber(input, countryCode)).toMatchObject({ kind: 'well_formed', vatNumber });
  });
});
