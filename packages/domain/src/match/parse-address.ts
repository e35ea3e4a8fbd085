import { isUnstated, latinize } from './fold-text.js';

/** The parts of an address that could be separated; null for the others. */
type AddressParts = { street: string | null; postal_code: string | null; city: string | null };

const NOTHING: AddressParts = { street: null, postal_code: null, city: null };

const FOUR = String.raw`\d{4}`;
const FIVE = String.raw`\d{5}`;
const SPACED = String.raw`\d{3}\s?\d{2}`;
/** Postal codes as the states write them. A prefix such as `D-` or `LT-` may precede those of digits alone. */
const CODES: Readonly<Record<string, string>> = {
  ...{ AT: FOUR, BE: FOUR, BG: FOUR, CY: FOUR, DK: FOUR, HU: FOUR, LU: FOUR, SI: FOUR },
  ...{ DE: FIVE, EE: FIVE, ES: FIVE, FI: FIVE, FR: FIVE, HR: FIVE, IT: FIVE, LT: FIVE },
  ...{ CZ: SPACED, EL: SPACED, SE: SPACED, SK: SPACED },
  NL: String.raw`\d{4}\s?[A-Z]{2}`,
  PL: String.raw`\d{2}-\d{3}`,
  PT: String.raw`\d{4}(?:-\d{3})?`,
  RO: String.raw`\d{6}`,
  ...{ LV: FOUR, MT: String.raw`[A-Z]{3}\s?\d{4}`, IE: String.raw`[AC-FHKNPRTV-Y](?:\d\d|6W)\s?[\dAC-FHKNPRTV-Y]{4}` },
  ...{ XI: String.raw`[A-Z]{1,2}\d[\dA-Z]?\s?\d[A-Z]{2}` },
};
const PREFIX = String.raw`(?:(?<![\p{L}\d])[A-Z]{1,3}[-–]\s?)?`;

const createCodePattern = (code: string): RegExp =>
  new RegExp(String.raw`${code.startsWith('\\d') ? PREFIX : ''}(?<![\p{L}\d/])${code}(?![\p{L}\d/])`, 'giu');
const CODE_PATTERNS = new Map(Object.entries(CODES).map(([state, code]) => [state, createCodePattern(code)] as const));

/** Last lines that name the country or, in Ireland, the county. */
const COUNTRY_LINE =
  /^(?:[a-z]{2}|slovensko|slovenska republika|slovakia|ceska republika|czechia|czech republic|osterreich|austria|deutschland|germany|kypros|cyprus|ellada|ellas|greece|polska|poland|france|italia|italy|espana|spain|portugal|belgie|belgique|belgium|nederland|netherlands|luxembourg country|danmark|denmark|sverige|sweden|suomi|finland|eesti|estonia|latvija|latvia|lietuva|lithuania|malta|hrvatska|croatia|slovenija|slovenia|magyarorszag|hungary|romania|balgaria|bulgaria|ireland|eire|northern ireland|united kingdom|great britain)\.?$/;
const COUNTY_LINE = /^(?:co\.?|county|contae)\s/;

const isCountry = (segment: string): boolean => COUNTRY_LINE.test(latinize(segment).trim());
const isCounty = (segment: string): boolean => COUNTY_LINE.test(latinize(segment).trim());

const segmentsOf = (address: string): string[] => {
  const segments = address
    .split(/[\n,;]/)
    .map((segment) => segment.replace(/\s+/g, ' ').trim())
    .filter((segment) => segment !== '' && !isUnstated(segment));
  while (segments.length > 1 && isCountry(segments.at(-1) ?? '')) segments.pop();
  return segments;
};

const clean = (text: string | undefined): string | null => {
  const cleaned = text?.replace(/^[\s,–-]+|[\s,–-]+$/g, '') ?? '';
  return cleaned === '' ? null : cleaned;
};
const joinSegments = (segments: readonly string[]): string | null => clean(segments.join(', '));

type Found = { at: number; code: string; before: string; after: string };

/** The last postal code of the address, with the text on both sides of it in its segment. */
const findCode = (segments: readonly string[], memberState: string): Found | null => {
  const pattern = CODE_PATTERNS.get(memberState);
  if (!pattern) return null;
  for (let at = segments.length - 1; at >= 0; at -= 1) {
    const segment = segments[at] ?? '';
    const match = [...segment.matchAll(pattern)].at(-1);
    if (!match) continue;
    const end = match.index + match[0].length;
    return { at, code: match[0], before: segment.slice(0, match.index).trim(), after: segment.slice(end).trim() };
  }
  return null;
};

/** Removes segments of the street that only repeat the city, as "PRAHA 4 - MICHLE" beside "140 00 PRAHA 4". */
const withoutCity = (segments: readonly string[], city: string | null): string[] => {
  const name =
    latinize(city ?? '')
      .split(/[\s-]+\d|\s-\s/)[0]
      ?.trim() ?? '';
  if (name === '') return [...segments];
  return segments.filter((segment, at) => at === 0 || !latinize(segment).startsWith(name));
};

const HAS_DIGIT = /\d/;

/** No postal code: the city is the last segment, or the first where only the last has a house number. */
const readWithoutCode = (segments: readonly string[], memberState: string): AddressParts => {
  if (segments.length < 2) {
    const [only = ''] = segments;
    return HAS_DIGIT.test(only) ? { ...NOTHING, street: clean(only) } : { ...NOTHING, city: clean(only) };
  }
  const rest =
    memberState === 'IE' || memberState === 'XI'
      ? segments.filter((segment, at) => at === 0 || !isCounty(segment))
      : segments;
  const cityFirst = memberState !== 'IE' && HAS_DIGIT.test(rest.at(-1) ?? '') && !HAS_DIGIT.test(rest[0] ?? '');
  const city = clean(cityFirst ? rest[0] : rest.at(-1));
  return { street: joinSegments(cityFirst ? rest.slice(1) : rest.slice(0, -1)), postal_code: null, city };
};

/** Street, then code and city in either order: most states. */
const readCommon = (segments: readonly string[], memberState: string): AddressParts => {
  const found = findCode(segments, memberState);
  if (!found) return readWithoutCode(segments, memberState);
  const { at, code, before, after } = found;
  const preceding = segments.slice(0, at);
  const parts = (streets: readonly string[], city: string | null): AddressParts => ({
    street: joinSegments(withoutCity(streets, city)),
    postal_code: code,
    city,
  });
  // Lithuanian addresses may name the municipality behind the code and the city before it.
  const isMunicipality = /\bsav\b/.test(latinize(after));
  if (clean(after) && !isMunicipality) return parts(before === '' ? preceding : [...preceding, before], clean(after));
  if (clean(before) && !HAS_DIGIT.test(before)) return parts(preceding, clean(before));
  const streets = preceding.filter((segment, index) => index === 0 || !isCounty(segment));
  if (streets.length === 0) return parts([...segments.slice(at + 1), ...(before === '' ? [] : [before])], null);
  return parts(streets.length > 1 ? streets.slice(0, -1) : [], clean(streets.at(-1)));
};

/** "1117 BUDAPEST INFOPARK SÉTÁNY 3/B", also with a comma behind the city. */
const readHungarian = (address: string, segments: readonly string[]): AddressParts => {
  const match = /^\s*(?:H[- ]?)?(\d{4})\s+(.+)$/su.exec(address);
  if (!match) return readCommon(segments, 'HU');
  const [head = '', ...rest] = segmentsOf(match[2] ?? '');
  if (rest.length > 0) return { street: joinSegments(rest), postal_code: match[1] ?? null, city: clean(head) };
  // In one line the city is the first word; no sign separates cities of several words from the street.
  const [city, ...street] = head.split(' ');
  return { street: clean(street.join(' ')), postal_code: match[1] ?? null, city: clean(city) };
};

/** "ул. ВИТОША №1 обл.СОФИЯ, гр.СОФИЯ 1000" */
const readBulgarian = (address: string, segments: readonly string[]): AddressParts => {
  const text = address.replace(/\s+/g, ' ');
  const place = /(?:^|[\s,])(?:гр|с|gr|s)\.\s?([^,\d]+?)\s*,?\s*(\d{4})?\s*(?=,|$)/iu.exec(text);
  if (!place) return readCommon(segments, 'BG');
  const rest = `${text.slice(0, place.index)}, ${text.slice(place.index + place[0].length)}`;
  const [code] = place[2] ? [place[2]] : (/(?<!\d)\d{4}(?!\d)/.exec(rest) ?? []);
  const street = rest
    .replace(/(?:обл|общ|р-н|obl|obsht)\.?\s?[^,]*$|(?:обл|общ|obl|obsht)\.\s?[^,\s]+/giu, ' ')
    .replace(code ?? '\n', ' ');
  return {
    street: clean(street.replace(/\s+/g, ' ').replace(/(?:\s*,)+\s*$/, '')),
    postal_code: code ?? null,
    city: clean(place[1]),
  };
};

const ROMANIAN_PLACE = /^(?:mun|municipiul|ors|oras|orasul|com|comuna|sat|loc|localitatea)\b\.?\s*(?=[a-z])|^bucuresti/;
const ROMANIAN_AREA = /^(?:jud|judetul|sector|sectorul)\b/;

/** "MUN. BUCUREŞTI, SECTOR 1\nSTR. BARBU VĂCĂRESCU NR. 201" */
const readRomanian = (segments: readonly string[]): AddressParts => {
  let city: string | null = null;
  let code: string | null = null;
  const streets: string[] = [];
  for (const segment of segments) {
    const found = findCode([segment], 'RO');
    if (found) code = found.code;
    const text = found
      ? `${found.before} ${found.after}`.replace(/\bcod (?:postal|poştal|poștal)\b:?/iu, '').trim()
      : segment;
    const latin = latinize(text).replace(/^\s+/, '');
    if (ROMANIAN_AREA.test(latin)) continue;
    const place = ROMANIAN_PLACE.exec(latin);
    // A village is named behind its commune.
    if (place && (city === null || /^sat/.test(latin)))
      city = clean(text.slice(place[0].startsWith('bucuresti') ? 0 : place[0].length));
    else if (!place && text !== '') streets.push(text);
  }
  const street = joinSegments(streets.map((text) => text.replace(/\bsector(?:ul)?\s+\d\b/iu, '').trim()));
  if (city === null) return readCommon(segments, 'RO');
  return { street, postal_code: code, city: city.replace(/\s+sector.*$/i, '') };
};

/** "Harju maakond, Tallinn, Kesklinna linnaosa, Narva mnt 5, 10117" */
const readEstonian = (segments: readonly string[]): AddressParts => {
  if (!/maakond$/.test(latinize(segments[0] ?? ''))) return readCommon(segments, 'EE');
  const found = findCode(segments, 'EE');
  const streets = segments.slice(1).filter((segment) => HAS_DIGIT.test(segment) && segment !== found?.code);
  return { street: clean(streets.at(-1)), postal_code: found?.code ?? null, city: clean(segments[1]) };
};

/** "Vilniaus m. sav. Vilnius Konstitucijos pr. 20A" */
const readLithuanian = (segments: readonly string[]): AddressParts => {
  const match = segments.length === 1 ? /^.*?\bsav\.\s+(\S+(?:\s(?:m|k)\.)?)\s+(.+)$/iu.exec(segments[0] ?? '') : null;
  return match ? { street: clean(match[2]), postal_code: null, city: clean(match[1]) } : readCommon(segments, 'LT');
};

/** In these states the first line is the street, and the lines before the postal code name parts of the city. */
const STREET_FIRST = new Set(['CZ', 'HR']);

/**
 * Separates an address, as VIES or a register of `memberState` (VIES's code) states it, into street, postal code and city.
 * The formats are those of recorded answers; what does not fit them stays null or part of the street. Pure, never throws.
 */
export const parseAddress = (address: string, memberState: string): AddressParts => {
  if (isUnstated(address)) return NOTHING;
  const text = address.slice(0, 500);
  const segments = segmentsOf(text);
  if (segments.length === 0) return NOTHING;
  if (memberState === 'HU') return readHungarian(text, segments);
  if (memberState === 'BG') return readBulgarian(text, segments);
  if (memberState === 'RO') return readRomanian(segments);
  if (memberState === 'EE') return readEstonian(segments);
  if (memberState === 'LT') return readLithuanian(segments);
  const parts = readCommon(segments, memberState);
  const [first = ''] = segments;
  return STREET_FIRST.has(memberState) && parts.street?.startsWith(first) && HAS_DIGIT.test(first)
    ? { ...parts, street: first }
    : parts;
};
