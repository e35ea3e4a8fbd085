import { MEMBER_STATES } from '../member-states.js';
import { parseAddress } from './parse-address.js';

/** State, address as VIES or a register states it, street, postal code, city. */
const ADDRESSES: readonly (readonly [string, string, string | null, string | null, string | null])[] = [
  ['AT', 'Mariahilfer Straße 123\nAT-1060 Wien', 'Mariahilfer Straße 123', 'AT-1060', 'Wien'],
  ['BE', 'Ringbaan 26\n1831 Machelen (Brab.)', 'Ringbaan 26', '1831', 'Machelen (Brab.)'],
  ['BG', 'ул. КУКУШ №1 обл.СОФИЯ, гр.СОФИЯ 1309', 'ул. КУКУШ №1', '1309', 'СОФИЯ'],
  ['BG', 'жк МЛАДОСТ 4 №1 бл.10 ет.4 обл.СОФИЯ, гр.СОФИЯ 1715', 'жк МЛАДОСТ 4 №1 бл.10 ет.4', '1715', 'СОФИЯ'],
  ['BG', 'ул. Васил Левски 5 обл.ПЛОВДИВ, с.ТРУД 4199', 'ул. Васил Левски 5', '4199', 'ТРУД'],
  ['CY', 'Αριστείδου, 5, Floor 2\n2101 Λευκωσία, Κύπρος', 'Αριστείδου, 5, Floor 2', '2101', 'Λευκωσία'],
  ['CY', '28ης ΟΚΤΩΒΡΙΟΥ, 319\nΛΕΜΕΣΟΣ 3105', '28ης ΟΚΤΩΒΡΙΟΥ, 319', '3105', 'ΛΕΜΕΣΟΣ'],
  ['CZ', 'Duhová 1444/2\nPRAHA 4 - MICHLE\n140 00  PRAHA 4', 'Duhová 1444/2', '140 00', 'PRAHA 4'],
  ['CZ', 'Letenská 525/15, Malá Strana, 11800 Praha 1', 'Letenská 525/15', '11800', 'Praha 1'],
  ['DE', 'Musterstraße 12, 10115 Berlin, DE', 'Musterstraße 12', '10115', 'Berlin'],
  ['DE', '---', null, null, null],
  ['DK', 'Lautrupvang 1\n2750 Ballerup', 'Lautrupvang 1', '2750', 'Ballerup'],
  ['EE', 'Valge 16  19095 TALLINN LASNAMÄE LINNAOSA', 'Valge 16', '19095', 'TALLINN LASNAMÄE LINNAOSA'],
  ['EE', 'Harju maakond, Tallinn, Kesklinna linnaosa, Narva mnt 5, 10117', 'Narva mnt 5', '10117', 'Tallinn'],
  ['EL', 'ΛΕΩΦ. ΚΗΦΙΣΙΑΣ 123 15125 - ΜΑΡΟΥΣΙ', 'ΛΕΩΦ. ΚΗΦΙΣΙΑΣ 123', '15125', 'ΜΑΡΟΥΣΙ'],
  ['ES', 'Calle Mayor 5, 28013 Madrid, ES', 'Calle Mayor 5', '28013', 'Madrid'],
  ['FI', 'Karakaari 7, 02610 ESPOO', 'Karakaari 7', '02610', 'ESPOO'],
  ['FI', 'PL 226\n00045 NOKIA GROUP', 'PL 226', '00045', 'NOKIA GROUP'],
  ['FR', '8 RUE DE LONDRES\n75009 PARIS', '8 RUE DE LONDRES', '75009', 'PARIS'],
  [
    'FR',
    'TOUR CARPE DIEM\n31 PL DES COROLLES\n92400 COURBEVOIE',
    'TOUR CARPE DIEM, 31 PL DES COROLLES',
    '92400',
    'COURBEVOIE',
  ],
  ['FR', '11 RUE AMPERE 26600 PONT-DE-L ISERE', '11 RUE AMPERE', '26600', 'PONT-DE-L ISERE'],
  ['HR', 'SAVSKA CESTA 32, ZAGREB, 10000 ZAGREB', 'SAVSKA CESTA 32', '10000', 'ZAGREB'],
  ['HU', '1117 BUDAPEST INFOPARK SÉTÁNY 3/B', 'INFOPARK SÉTÁNY 3/B', '1117', 'BUDAPEST'],
  ['HU', '1138 Budapest, Váci út 135-139.', 'Váci út 135-139.', '1138', 'Budapest'],
  ['IE', 'GORDON HOUSE, BARROW STREET, DUBLIN 4', 'GORDON HOUSE, BARROW STREET', null, 'DUBLIN 4'],
  ['IE', 'Gordon House, Barrow Street, D04 E5W5 Dublin, IE', 'Gordon House, Barrow Street', 'D04 E5W5', 'Dublin'],
  ['IE', 'MAIN STREET, NAAS, CO. KILDARE', 'MAIN STREET', null, 'NAAS'],
  ['IT', 'VIA ROMA 4 \n20124 MILANO MI\n', 'VIA ROMA 4', '20124', 'MILANO MI'],
  ['LT', 'Konstitucijos pr. 21A, LT-08130 Vilnius', 'Konstitucijos pr. 21A', 'LT-08130', 'Vilnius'],
  ['LT', 'Žalgirio g. 90-100, Vilnius, 09303 Vilniaus m. sav.', 'Žalgirio g. 90-100', '09303', 'Vilnius'],
  ['LT', 'Vilniaus m. sav. Vilnius Konstitucijos pr. 20A', 'Konstitucijos pr. 20A', null, 'Vilnius'],
  ['LU', '15, BOULEVARD F.W. RAIFFEISEN\nL-2411  LUXEMBOURG', '15, BOULEVARD F.W. RAIFFEISEN', 'L-2411', 'LUXEMBOURG'],
  ['LV', 'Gustava Zemgala gatve 78, Rīga, LV-1039', 'Gustava Zemgala gatve 78', 'LV-1039', 'Rīga'],
  [
    'MT',
    'The Strand Towers,, \n36, The Strand, \n, Sliema SLM1022',
    'The Strand Towers, 36, The Strand',
    'SLM1022',
    'Sliema',
  ],
  ['NL', '\nHERENGRACHT 00597\n1017CE AMSTERDAM\n', 'HERENGRACHT 00597', '1017CE', 'AMSTERDAM'],
  ['PL', 'ŚWIĘTOKRZYSKA 12, 00-916 WARSZAWA', 'ŚWIĘTOKRZYSKA 12', '00-916', 'WARSZAWA'],
  [
    'PT',
    'RUA DUQUE DE PALMELA N 37 5 ANDAR\nLISBOA\n1250-097 LISBOA',
    'RUA DUQUE DE PALMELA N 37 5 ANDAR',
    '1250-097',
    'LISBOA',
  ],
  ['RO', 'MUN. BUCUREŞTI, SECTOR 2\nSTR. BARBU VĂCĂRESCU Nr. 201', 'STR. BARBU VĂCĂRESCU Nr. 201', null, 'BUCUREŞTI'],
  [
    'RO',
    'MUNICIPIUL BUCUREŞTI, 014476 STR. BARBU VĂCĂRESCU NR. 201 SECTOR 2',
    'STR. BARBU VĂCĂRESCU NR. 201',
    '014476',
    'BUCUREŞTI',
  ],
  ['RO', 'JUD. SIBIU, MUN. MEDIAŞ', null, null, 'MEDIAŞ'],
  ['RO', 'JUD. ILFOV, ORŞ. VOLUNTARI\nŞOS. PIPERA 42', 'ŞOS. PIPERA 42', null, 'VOLUNTARI'],
  ['SE', 'MÄSTER SAMUELSGATAN 60 \n111 21 STOCKHOLM', 'MÄSTER SAMUELSGATAN 60', '111 21', 'STOCKHOLM'],
  ['SI', 'Koprska ulica 98, 1000 LJUBLJANA', 'Koprska ulica 98', '1000', 'LJUBLJANA'],
  [
    'SK',
    'Einsteinova 24\n85101 Bratislava - mestská časť Petržalka\nSlovensko',
    'Einsteinova 24',
    '85101',
    'Bratislava - mestská časť Petržalka',
  ],
  ['XI', 'UNIT 5\n12 WILDFLOWER WAY\nBELFAST\nBT12 6TA', 'UNIT 5, 12 WILDFLOWER WAY', 'BT12 6TA', 'BELFAST'],
  ['EL', 'Hauptstraße 5', 'Hauptstraße 5', null, null],
];

test.each(ADDRESSES)('%s: %j', (state, address, street, postal_code, city) => {
  expect(parseAddress(address, state)).toEqual({ street, postal_code, city });
});

test('there is an address of every member state', () => {
  expect(MEMBER_STATES.filter((state) => !ADDRESSES.some(([known]) => known === state))).toEqual([]);
});
