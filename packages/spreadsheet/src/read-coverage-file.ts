import type { SupplyRow } from '@vat/domain';
import { AppError } from '@vat/domain/errors';
import { isDateLike, mayTellDate, WRITE_ISO } from '@vat/domain/supply-date';
import { type BatchFile, invalidCsv } from './batch-file.js';
import { isBlank } from './cells.js';
import { addedColumns, findNamed, ranksOf } from './find-columns.js';
import { type ReadOptions, readBatchFile } from './read-batch-file.js';
import { repairCell } from './vat-cells.js';
import { namingErrors } from './xlsx/invalid-file.js';

/** The content of a coverage file: that of a batch file with the column of the supply dates. */
export type CoverageFile = Omit<BatchFile, 'rows'> & { dateColumn: number; rows: readonly SupplyRow[] };

/**
 * Names of the supply date's column from the most to the least certain. The date of a supply counts before that of its invoice,
 * this one before that of its posting, and all before a column that is only called a date.
 */
const DATE_NAMES = [
  `
    supply_date | Date of supply | Tax point | Tax point date | VAT date | VAT reporting date | Chargeable event | Delivery date | Date of delivery |
    Service date | Date of service | Shipping date | Shipment date | Ship date | Dispatch date | Date of dispatch |
    Lieferdatum | Lieferungsdatum | Liefertag | Versanddatum | Leistungsdatum | Leist.-Dat. | Leistungsdat. | MwSt.-Datum | USt.-Datum | Leistungszeitpunkt |
    Liefer- und Leistungsdatum | Liefer-/Leistungsdatum | Datum der Lieferung | Tag der Lieferung | Datum der Leistung |
    Date de livraison | Date de la livraison | Date de fourniture | Date de la fourniture | Date de prestation |
    Date de la prestation | Date d'opération | Date d'expédition | Fait générateur | Data di cessione | Data cessione |
    Data operazione | Data di consegna | Data consegna | Data fornitura | Data di fornitura | Data della fornitura |
    Data prestazione | Data della prestazione | Data spedizione | Data di spedizione | Fecha de entrega | Fecha entrega |
    Fecha de operación | Fecha operación | Fecha de la operación | Fecha de suministro | Fecha de prestación |
    Fecha de envío | Fecha de devengo | Fecha devengo | Data de entrega | Data da entrega | Data da operação |
    Data de fornecimento | Data de prestação | Leveringsdatum | Leverdatum | Datum levering | Datum van levering |
    Prestatiedatum | Datum prestatie | Data dostawy | Data sprzedaży | Data wykonania | Data wykonania usługi |
    Datum dodání | Datum dodávky | Datum plnění | Datum uskutečnění plnění | Datum zdanitelného plnění | DUZP |
    Datum uskutečnění zdanitelného plnění | Dátum dodania | Dátum dodávky | Dátum plnenia | Leveringsdato | Leveringsdag |
    Leveransdatum | Leveransdag | Toimituspäivä | Toimituspvm | Suorituspäivä | Ημερομηνία παράδοσης | Ημ. παράδοσης |
    Ημ/νία παράδοσης | Дата на доставка | Дата на доставката | Дата на данъчно събитие | Дата на данъчното събитие |
    Teljesítés dátuma | Teljesítés időpontja | Teljesítés | Szállítás dátuma | Data livrării | Data livrarii |
    Data furnizării | Data prestării | Tiekimo data | Pristatymo data | Piegādes datums | Tarnekuupäev | Tarne kuupäev |
    Datum isporuke | Datum dobave | Datum opravljene storitve | Data tal-provvista | Dáta soláthair | Tax date | Time of supply |
    Datum Lieferung | Datum Leistung | Lieferung am | Leistung am | Liefer- bzw. Leistungsdatum | Date livraison | Date prestation |
    Date de vente | Date d'exigibilité | Data effettuazione | Data effettuazione operazione | Data di effettuazione |
    Data di effettuazione dell'operazione | Fecha de la entrega | Fecha de la prestación | Fecha de venta | Data entrega |
    Data da prestação | Data prestação | Data zakończenia dostawy | Data dokonania dostawy | Data obowiązku podatkowego |
    Data powstania obowiązku podatkowego | Datum usk. zd. plnění | Datum zdan. plnění | Datum zd. plnění | Deň dodania |
    Dátum zdaniteľného plnenia | Dátum daňovej povinnosti | Dátum vzniku daňovej povinnosti | Teljesítési dátum |
    Teljesítés napja | Teljesítés kelte | Data faptului generator | Data livrare | Data exigibilității | Ημερομηνία παροχής |
    Toimituspäivämäärä | Suorituspäivämäärä | Дата на дан. събитие | Käibe kuupäev | Käibe tekkimise kuupäev | Darījuma datums |
    Sandorio data | Datum obavljanja usluge | Datum isporuke dobara | Datum opravljanja | Datum opravljene dobave |
    Datum opravljanja storitve
  `,
  `
    Invoice date | Date of invoice | Document date | Rechnungsdatum | Belegdatum |
    Fakturadatum | Date de facture | Date facture | Date de la facture | Date de pièce | Data fattura | Data documento |
    Fecha de factura | Fecha factura | Data da fatura | Data fatura | Factuurdatum | Data faktury |
    Data wystawienia | Datum faktury | Datum vystavení | Dátum faktúry | Dátum vystavenia | Fakturadato | Laskun päivä |
    Laskupäivä | Laskun päiväys | Ημερομηνία τιμολογίου | Дата на фактура | Дата на фактурата | Számla kelte |
    Számla dátuma | Data facturii | Data factură | Sąskaitos data | Rēķina datums | Arve kuupäev | Datum računa |
    Data tal-fattura | Dáta an tsonraisc
  `,
  'Posting date | Buchungsdatum | Boekdatum',
  `
    Date | Datum | Data | Fecha | Dato | Päivä | Päivämäärä | Pvm | Ημερομηνία | Дата | Dátum | Kelt | Kuupäev | Datums |
    Dáta
  `,
];

/** Names of dates of payment. They are often weeks after the supply, so that a check that came too late would seem to be in time. */
const PAYMENT_NAMES = `
  Due date | Date due | Due | Due on | Payment due | Payment due date | Net due date | Payment date | Date of payment | Paid on |
  Fälligkeitsdatum | Fälligkeit | Fällig am | Fällig | Nettofälligkeit | Nettofälligkeitsdatum | Zahlungsziel | Zahlbar bis |
  Zahlungsdatum | Zahldatum | Bezahlt am | Date d'échéance | Date échéance | Échéance | Date de paiement | Date de règlement |
  Scadenza | Data scadenza | Data di scadenza | Data pagamento | Data di pagamento | Vencimiento | Fecha de vencimiento |
  Fecha vencimiento | Fecha de pago | Vencimento | Data de vencimento | Data vencimento | Data de pagamento | Vervaldatum |
  Vervaldag | Betaaldatum | Termin płatności | Data płatności | Data zapłaty | Splatnost | Datum splatnosti | Dátum splatnosti |
  Datum úhrady | Dátum úhrady | Forfaldsdato | Forfald | Betalingsdato | Förfallodatum | Förfallodag | Betaldatum | Eräpäivä |
  Maksupäivä | Ημερομηνία λήξης | Ημερομηνία πληρωμής | Падеж | Дата на падеж | Дата на плащане | Fizetési határidő |
  Esedékesség | Esedékesség dátuma | Data scadenței | Scadență | Data plății | Mokėjimo terminas | Apmokėti iki |
  Apmaksas termiņš | Maksetähtaeg | Maksetähtpäev | Dospijeće | Datum dospijeća | Zapadlost | Datum zapadlosti | Rok plačila
`;

const PAYMENT_RANKS = ranksOf([PAYMENT_NAMES.split('|')]);

const isOfPayment = (header: BatchFile['header'], column: number): boolean =>
  findNamed(PAYMENT_RANKS, [header?.[column] ?? ''], () => false).length > 0;

const DATE_RANKS = ranksOf(DATE_NAMES.map((names) => names.split('|')));
const SUPPLY_RANKS = ranksOf(DATE_NAMES.slice(0, 1).map((names) => names.split('|')));

/** Whether a name is one of {@link DATE_RANKS}, or with `ranks` one of these. */
const isDateName = (name = '', ranks = DATE_RANKS): boolean => findNamed(ranks, [name], () => false).length > 0;

/** Rows by whose cells a column without a name is recognised. */
const SAMPLE_ROWS = 200;

/** The filled cells of a column without what a spreadsheet added. */
const cellsOf = (rows: BatchFile['rows'], column: number): string[] =>
  rows
    .map(({ cells }) => cells[column] ?? '')
    .filter((cell) => !isBlank(cell))
    .map((cell) => repairCell(cell, 'text').text);

/** Whether every filled cell of the first rows is a date. */
const isColumnOfDates = (rows: BatchFile['rows'], column: number): boolean => {
  const cells = cellsOf(rows.slice(0, SAMPLE_ROWS), column);
  return cells.length > 0 && cells.every(isDateLike);
};

/** Whether a third of the filled cells may be dates: a column of supply dates may also have `offen`, periods or months in letters. */
const mayBeColumnOfDates = (rows: BatchFile['rows'], column: number): boolean => {
  const cells = cellsOf(rows, column);
  const dates = cells.filter(mayTellDate).length;
  return dates > 0 && 3 * dates >= cells.length;
};

/** The numbers of columns, from 1, and their names. */
const nameColumns = (columns: readonly number[], header: BatchFile['header']): string =>
  columns
    .map((column) => `${column + 1}${header === null ? '' : ` (“${header[column]?.slice(0, 60)}”)`}`)
    .join(' and ');

const dateColumnOf = ({ header, columns, rows, width }: BatchFile): number => {
  const taken = new Set(Object.values(columns).filter((column) => column !== null));
  const named = header === null ? [] : findNamed(DATE_RANKS, header, (column) => taken.has(column));
  const [first, second] = named;
  if (first !== undefined && second !== undefined) {
    throw invalidCsv(
      Math.max(1, (rows[0]?.line ?? 1) - 1),
      `Columns ${nameColumns([first, second], header)} both name the supply date: rename or remove one of them.`,
    );
  }
  if (first !== undefined && isDateName(header?.[first], SUPPLY_RANKS)) return first;
  const added = addedColumns(header ?? []);
  const possible = Array.from({ length: width }, (_, column) => column).filter(
    (column) => !taken.has(column) && !added.has(column) && mayBeColumnOfDates(rows, column),
  );
  const payments = possible.filter((column) => isOfPayment(header, column));
  // Beside the date of an invoice an unknown name may be that of the supply's.
  const unknown = possible.filter((column) => !payments.includes(column) && !isDateName(header?.[column]));
  const [only, ...others] = first === undefined ? unknown : [first, ...unknown];
  if (only !== undefined && others.length === 0 && (only === first || isColumnOfDates(rows, only))) return only;
  const [payment] = payments;
  let found = 'No column can be the supply date';
  if (only !== undefined && others.length > 0)
    found = `Columns ${nameColumns([only, ...others.slice(0, 2)], header)} contain dates`;
  else if (payment !== undefined) found += `, and column ${nameColumns([payment], header)} has dates of payment`;
  throw new AppError('MISSING_SUPPLY_DATE', {
    message: `${found}. Write “supply_date” as the heading of the column with the supply dates. ${WRITE_ISO}`,
  });
};

/**
 * Reads a file of supplies: a batch file with a column of dates, found by its name, or when no name fits as the only column of
 * dates that is not named after the payment. The dates are not read: the domain does, with the line of one that cannot be.
 *
 * @throws AppError as {@link readBatchFile}, and MISSING_SUPPLY_DATE
 */
export const readCoverageFile = (bytes: Uint8Array, options?: ReadOptions): CoverageFile => {
  const file = readBatchFile(bytes, options);
  const dateColumn = namingErrors(file.source.format, () => dateColumnOf(file));
  const rows = file.rows.map((row) => ({ ...row, supplyDate: repairCell(row.cells[dateColumn] ?? '', 'text').text }));
  return { ...file, dateColumn, rows };
};
