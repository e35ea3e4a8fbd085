import type { CoverageStatus, DocumentLanguage } from '@vat/domain';

/** Every text of the report in one language. The terms are those of the language version of Directive 2006/112/EC. */
export type ReportTexts = {
  title: string;
  made: (at: string, url: string) => string;
  complete: string;
  incomplete: string;
  summary: (covered: number, total: number) => string;
  file: string;
  label: string;
  coverage: string;
  asOf: string;
  rules: string;
  maxAge: string;
  days: (days: number) => string;
  minGrade: string;
  day: string;
  dayIsUtc: string;
  totals: string;
  total: string;
  statuses: Record<CoverageStatus, { word: string; meaning: string }>;
  gaps: string;
  noGaps: string;
  line: string;
  number: string;
  supplyDate: string;
  status: string;
  lastCheck: string;
  reference: string;
  noNumber: string;
  footer: string;
};

/** `12 345` with a space that no line breaks at. */
export const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, '\u00a0');

/** `1 of 3`, whose verb is singular, as is that of `0 of 1`. */
const isSingular = (covered: number, total: number): boolean => covered === 1 || total === 1;

const en: ReportTexts = {
  title: 'Coverage of supplies by VAT number checks',
  made: (at, url) => `Made ${at} from the records of ${url}`,
  complete: 'COVERED',
  incomplete: 'GAPS',
  summary: (covered, total) =>
    `${grouped(covered)} of ${grouped(total)} ${total === 1 ? 'supply' : 'supplies'} ${isSingular(covered, total) ? 'is' : 'are'} covered by a check of the VAT number that was in time.`,
  file: 'File',
  label: 'Label',
  coverage: 'Coverage',
  asOf: 'Records as of',
  rules: 'Rules',
  maxAge: 'Maximum age of a check',
  days: (days) => `${days} ${days === 1 ? 'day' : 'days'} before the supply`,
  minGrade: 'Minimum evidence grade',
  day: 'Days',
  dayIsUtc: 'calendar days in UTC; a check on the day of the supply is in time',
  totals: 'Totals',
  total: 'Supplies',
  statuses: {
    covered: { word: 'covered', meaning: 'a valid check in time, of the required grade' },
    stale: { word: 'stale', meaning: 'the last check says valid, but is too old' },
    weak: { word: 'weak', meaning: 'valid in time, but of a lower grade' },
    invalid: { word: 'invalid', meaning: 'the last check before the supply says not valid' },
    missing: { word: 'missing', meaning: 'no check before the supply, or no usable number' },
  },
  gaps: 'Supplies that are not covered',
  noGaps: 'Every supply is covered.',
  line: 'Line',
  number: 'VAT number',
  supplyDate: 'Supply',
  status: 'Status',
  lastCheck: 'Last check before',
  reference: 'Reference',
  noNumber: 'no number',
  footer:
    'This report repeats what the records say. The checks themselves are the evidence; the dossier of this coverage contains them.',
};

const de: ReportTexts = {
  title: 'Abdeckung der Lieferungen durch Prüfungen der USt-IdNr.',
  made: (at, url) => `Erstellt ${at} aus den Aufzeichnungen von ${url}`,
  complete: 'ABGEDECKT',
  incomplete: 'LÜCKEN',
  summary: (covered, total) =>
    `${grouped(covered)} von ${grouped(total)} ${total === 1 ? 'Lieferung' : 'Lieferungen'} ${isSingular(covered, total) ? 'ist' : 'sind'} durch eine rechtzeitige Prüfung der USt-IdNr. abgedeckt.`,
  file: 'Datei',
  label: 'Bezeichnung',
  coverage: 'Abdeckung',
  asOf: 'Stand der Aufzeichnungen',
  rules: 'Regeln',
  maxAge: 'Höchstalter einer Prüfung',
  days: (days) => `${days} ${days === 1 ? 'Tag' : 'Tage'} vor der Lieferung`,
  minGrade: 'Mindestgrad des Nachweises',
  day: 'Tage',
  dayIsUtc: 'Kalendertage in UTC; eine Prüfung am Tag der Lieferung ist rechtzeitig',
  totals: 'Summen',
  total: 'Lieferungen',
  statuses: {
    covered: { word: 'abgedeckt', meaning: 'gültige, rechtzeitige Prüfung des verlangten Grades' },
    stale: { word: 'veraltet', meaning: 'die letzte Prüfung ergab gültig, ist aber zu alt' },
    weak: { word: 'schwach', meaning: 'rechtzeitig gültig, aber mit geringerem Grad' },
    invalid: { word: 'ungültig', meaning: 'die letzte Prüfung vor der Lieferung ergab ungültig' },
    missing: { word: 'fehlt', meaning: 'keine Prüfung vor der Lieferung oder keine brauchbare Nummer' },
  },
  gaps: 'Nicht abgedeckte Lieferungen',
  noGaps: 'Alle Lieferungen sind abgedeckt.',
  line: 'Zeile',
  number: 'USt-IdNr.',
  supplyDate: 'Lieferung',
  status: 'Status',
  lastCheck: 'Letzte Prüfung davor',
  reference: 'Referenz',
  noNumber: 'keine Nummer',
  footer:
    'Dieser Bericht gibt die Aufzeichnungen wieder. Der Nachweis sind die Prüfungen selbst; das Dossier dieser Abdeckung enthält sie.',
};

const fr: ReportTexts = {
  title: 'Couverture des livraisons par des contrôles de numéros de TVA',
  made: (at, url) => `Établi le ${at} d’après les enregistrements de ${url}`,
  complete: 'COUVERT',
  incomplete: 'LACUNES',
  summary: (covered, total) =>
    `${grouped(covered)} ${covered < 2 ? 'livraison' : 'livraisons'} sur ${grouped(total)} ${covered < 2 ? 'est couverte' : 'sont couvertes'} par un contrôle du numéro de TVA fait à temps.`,
  file: 'Fichier',
  label: 'Libellé',
  coverage: 'Couverture',
  asOf: 'État des enregistrements',
  rules: 'Règles',
  maxAge: 'Âge maximal d’un contrôle',
  days: (days) => `${days} ${days === 1 ? 'jour' : 'jours'} avant la livraison`,
  minGrade: 'Niveau de preuve minimal',
  day: 'Jours',
  dayIsUtc: 'jours civils en UTC ; un contrôle le jour de la livraison est fait à temps',
  totals: 'Totaux',
  total: 'Livraisons',
  statuses: {
    covered: { word: 'couverte', meaning: 'contrôle valide, à temps et du niveau exigé' },
    stale: { word: 'périmée', meaning: 'le dernier contrôle est valide, mais trop ancien' },
    weak: { word: 'faible', meaning: 'valide à temps, mais d’un niveau inférieur' },
    invalid: { word: 'non valide', meaning: 'le dernier contrôle avant la livraison est non valide' },
    missing: { word: 'sans contrôle', meaning: 'aucun contrôle avant la livraison, ou aucun numéro utilisable' },
  },
  gaps: 'Livraisons non couvertes',
  noGaps: 'Toutes les livraisons sont couvertes.',
  line: 'Ligne',
  number: 'Numéro de TVA',
  supplyDate: 'Livraison',
  status: 'Statut',
  lastCheck: 'Dernier contrôle avant',
  reference: 'Référence',
  noNumber: 'sans numéro',
  footer:
    'Ce rapport reprend les enregistrements. La preuve est constituée des contrôles eux-mêmes, que contient le dossier de cette couverture.',
};

const it: ReportTexts = {
  title: 'Copertura delle cessioni con controlli del numero IVA',
  made: (at, url) => `Redatto ${at} dalle registrazioni di ${url}`,
  complete: 'COPERTO',
  incomplete: 'LACUNE',
  summary: (covered, total) =>
    `${grouped(covered)} ${covered === 1 ? 'cessione' : 'cessioni'} su ${grouped(total)} ${covered === 1 ? 'è coperta' : 'sono coperte'} da un controllo tempestivo del numero IVA.`,
  file: 'File',
  label: 'Etichetta',
  coverage: 'Copertura',
  asOf: 'Registrazioni al',
  rules: 'Regole',
  maxAge: 'Età massima di un controllo',
  days: (days) => `${days} ${days === 1 ? 'giorno' : 'giorni'} prima della cessione`,
  minGrade: 'Grado di prova minimo',
  day: 'Giorni',
  dayIsUtc: 'giorni di calendario in UTC; un controllo nel giorno della cessione è tempestivo',
  totals: 'Totali',
  total: 'Cessioni',
  statuses: {
    covered: { word: 'coperta', meaning: 'controllo valido, tempestivo e del grado richiesto' },
    stale: { word: 'scaduta', meaning: 'l’ultimo controllo è valido, ma troppo vecchio' },
    weak: { word: 'debole', meaning: 'valido in tempo, ma di grado inferiore' },
    invalid: { word: 'non valida', meaning: 'l’ultimo controllo prima della cessione è non valido' },
    missing: { word: 'mancante', meaning: 'nessun controllo prima della cessione o nessun numero utilizzabile' },
  },
  gaps: 'Cessioni non coperte',
  noGaps: 'Tutte le cessioni sono coperte.',
  line: 'Riga',
  number: 'Numero IVA',
  supplyDate: 'Cessione',
  status: 'Stato',
  lastCheck: 'Ultimo controllo prima',
  reference: 'Riferimento',
  noNumber: 'senza numero',
  footer:
    'Questo rapporto riporta le registrazioni. La prova sono i controlli stessi, contenuti nel dossier di questa copertura.',
};

const es: ReportTexts = {
  title: 'Cobertura de entregas con comprobaciones del número de IVA',
  made: (at, url) => `Elaborado ${at} con los registros de ${url}`,
  complete: 'CUBIERTO',
  incomplete: 'LAGUNAS',
  summary: (covered, total) =>
    `${grouped(covered)} de ${grouped(total)} ${total === 1 ? 'entrega' : 'entregas'} ${isSingular(covered, total) ? 'está cubierta' : 'están cubiertas'} por una comprobación a tiempo del número de IVA.`,
  file: 'Archivo',
  label: 'Etiqueta',
  coverage: 'Cobertura',
  asOf: 'Registros a fecha de',
  rules: 'Reglas',
  maxAge: 'Antigüedad máxima',
  days: (days) => `${days} ${days === 1 ? 'día' : 'días'} antes de la entrega`,
  minGrade: 'Grado de prueba mínimo',
  day: 'Días',
  dayIsUtc: 'días naturales en UTC; una comprobación el día de la entrega está a tiempo',
  totals: 'Totales',
  total: 'Entregas',
  statuses: {
    covered: { word: 'cubierta', meaning: 'comprobación válida, a tiempo y del grado exigido' },
    stale: { word: 'caducada', meaning: 'la última comprobación es válida, pero demasiado antigua' },
    weak: { word: 'débil', meaning: 'válida a tiempo, pero de un grado inferior' },
    invalid: { word: 'no válida', meaning: 'la última comprobación antes de la entrega no es válida' },
    missing: { word: 'falta', meaning: 'ninguna comprobación antes de la entrega o ningún número utilizable' },
  },
  gaps: 'Entregas no cubiertas',
  noGaps: 'Todas las entregas están cubiertas.',
  line: 'Línea',
  number: 'Número de IVA',
  supplyDate: 'Entrega',
  status: 'Estado',
  lastCheck: 'Última comprobación',
  reference: 'Referencia',
  noNumber: 'sin número',
  footer:
    'Este informe reproduce los registros. La prueba son las comprobaciones mismas, que contiene el expediente de esta cobertura.',
};

const pl: ReportTexts = {
  title: 'Pokrycie dostaw sprawdzeniami numerów VAT',
  made: (at, url) => `Sporządzono ${at} na podstawie zapisów ${url}`,
  complete: 'POKRYTE',
  incomplete: 'LUKI',
  summary: (covered, total) =>
    `Dostawy pokryte terminowym sprawdzeniem numeru VAT: ${grouped(covered)} z ${grouped(total)}.`,
  file: 'Plik',
  label: 'Etykieta',
  coverage: 'Pokrycie',
  asOf: 'Stan zapisów na',
  rules: 'Zasady',
  maxAge: 'Największy wiek sprawdzenia',
  days: (days) => `${days} ${days === 1 ? 'dzień' : 'dni'} przed dostawą`,
  minGrade: 'Najniższy stopień dowodu',
  day: 'Dni',
  dayIsUtc: 'dni kalendarzowe w UTC; sprawdzenie w dniu dostawy jest terminowe',
  totals: 'Podsumowanie',
  total: 'Dostawy',
  statuses: {
    covered: { word: 'pokryta', meaning: 'ważne, terminowe sprawdzenie wymaganego stopnia' },
    stale: { word: 'przestarzała', meaning: 'ostatnie sprawdzenie jest ważne, lecz zbyt stare' },
    weak: { word: 'słaba', meaning: 'ważne w terminie, lecz niższego stopnia' },
    invalid: { word: 'nieaktywny', meaning: 'ostatnie sprawdzenie przed dostawą: numer nieaktywny' },
    missing: { word: 'brak', meaning: 'brak sprawdzenia przed dostawą lub brak czytelnego numeru' },
  },
  gaps: 'Dostawy niepokryte',
  noGaps: 'Wszystkie dostawy są pokryte.',
  line: 'Wiersz',
  number: 'Numer VAT',
  supplyDate: 'Dostawa',
  status: 'Status',
  lastCheck: 'Ostatnie sprawdzenie',
  reference: 'Oznaczenie',
  noNumber: 'brak numeru',
  footer:
    'Raport powtarza treść zapisów. Dowodem są same sprawdzenia; zawiera je dokumentacja (dossier) tego pokrycia.',
};

const nl: ReportTexts = {
  title: 'Dekking van leveringen door controles van btw-nummers',
  made: (at, url) => `Opgemaakt ${at} uit de gegevens van ${url}`,
  complete: 'GEDEKT',
  incomplete: 'HIATEN',
  summary: (covered, total) =>
    `${grouped(covered)} van ${grouped(total)} ${total === 1 ? 'levering' : 'leveringen'} ${isSingular(covered, total) ? 'is' : 'zijn'} gedekt door een tijdige controle van het btw-nummer.`,
  file: 'Bestand',
  label: 'Label',
  coverage: 'Dekking',
  asOf: 'Gegevens per',
  rules: 'Regels',
  maxAge: 'Maximale ouderdom',
  days: (days) => `${days} ${days === 1 ? 'dag' : 'dagen'} voor de levering`,
  minGrade: 'Minimale bewijsgraad',
  day: 'Dagen',
  dayIsUtc: 'kalenderdagen in UTC; een controle op de dag van de levering is tijdig',
  totals: 'Totalen',
  total: 'Leveringen',
  statuses: {
    covered: { word: 'gedekt', meaning: 'geldige, tijdige controle van de vereiste graad' },
    stale: { word: 'verouderd', meaning: 'de laatste controle is geldig, maar te oud' },
    weak: { word: 'zwak', meaning: 'tijdig geldig, maar van een lagere graad' },
    invalid: { word: 'ongeldig', meaning: 'de laatste controle voor de levering is ongeldig' },
    missing: { word: 'ontbreekt', meaning: 'geen controle voor de levering of geen bruikbaar nummer' },
  },
  gaps: 'Niet-gedekte leveringen',
  noGaps: 'Alle leveringen zijn gedekt.',
  line: 'Regel',
  number: 'Btw-nummer',
  supplyDate: 'Levering',
  status: 'Status',
  lastCheck: 'Laatste controle ervoor',
  reference: 'Referentie',
  noNumber: 'geen nummer',
  footer: 'Dit rapport herhaalt de gegevens. Het bewijs zijn de controles zelf; het dossier van deze dekking bevat ze.',
};

export const REPORT_TEXTS: Record<DocumentLanguage, ReportTexts> = { en, de, fr, it, es, pl, nl };
