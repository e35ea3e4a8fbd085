import type { Client } from '../client.js';
import { PendingError } from '../errors.js';
import type { Check } from '../generated/api-types.js';
import { verifyCheck } from '../verify-check.js';
import { type Command, durationOf, EXIT, table, textOf } from './command.js';

/** A text of a register on one line. */
const oneLine = (text: string | null): string | null => text?.replace(/\s*\n\s*/g, ', ') ?? null;

/** A check for people. */
const showCheck = (check: Check): string[] => [
  `${check.vat_number}  ${check.verdict}`,
  ...table([
    ['name', oneLine(check.name)],
    ['address', oneLine(check.address)],
    ['grade', check.evidence_grade],
    ['match', check.match?.score === undefined ? null : String(check.match.score ?? 'nothing to compare')],
    ['consultation', check.consultation_number],
    ['contradicted by', check.checks.flatMap(({ source, contradicts }) => (contradicts ? [source] : [])).join(', ')],
    ['checked at', check.checked_at],
    ['check', check.id],
    ['hash', `${check.response_hash} (verified)`],
  ]),
];

/** Checks a number. When `signal` ends the wait, the request continues: rejects with {@link PendingError}. */
export const checkUntilAborted = (
  client: Client,
  input: Parameters<Client['check']>[0],
  options: NonNullable<Parameters<Client['check']>[1]> & { signal: AbortSignal },
): Promise<Check> => {
  let accepted: string | null = null;
  const onPending = (id: string) => {
    accepted = id;
    options.onPending?.(id);
  };
  return client.check(input, { ...options, onPending }).catch((error: unknown) => {
    throw accepted !== null && options.signal.aborted ? new PendingError(accepted) : error;
  });
};

const TRADER = ['name', 'street', 'postal-code', 'city', 'company-type'] as const;

/** `vat check` */
export const checkNumber: Command = {
  takes: ['NUMBER'],
  summary: 'Checks a VAT number, or shows the outcome of an earlier request (req_…) or check (chk_…)',
  options: {
    country: ['CC', 'the country, when the number has no prefix'],
    requester: ['NUMBER', 'your own VAT number; VIES then issues a consultation number'],
    reference: ['TEXT', 'your own reference'],
    name: ['TEXT', 'the name of the trader, to be compared'],
    street: ['TEXT', 'the street'],
    'postal-code': ['TEXT', 'the postal code'],
    city: ['TEXT', 'the city'],
    'company-type': ['CODE', 'the legal form in the code of VIES, such as ES-1'],
    wait: ['SECONDS', 'how long to wait when VIES does not answer in time; 300 by default'],
  },
  run: async (args, { client, print, note, json, signal }) => {
    const number = args.positionals[0] ?? '';
    const details = TRADER.map((name) => [name.replace('-', '_'), textOf(args, name)] as const);
    const isTraderGiven = details.some(([, value]) => value !== undefined);
    const given = {
      country_code: textOf(args, 'country'),
      requester_vat_number: textOf(args, 'requester'),
      reference: textOf(args, 'reference'),
      trader: isTraderGiven ? Object.fromEntries(details) : undefined,
    };
    const options = { waitMs: durationOf(args, 'wait'), signal };
    const vat = client();
    const find = async (): Promise<Check> => {
      if (number.startsWith('chk_')) return (await vat.call('getCheck', { id: number }, { signal })).body;
      if (number.startsWith('req_')) return vat.waitForRequest(number, options);
      const onPending = (id: string) => note(`${id}  waiting`);
      return checkUntilAborted(vat, { ...given, vat_number: number }, { ...options, onPending });
    };
    const check = await find();
    verifyCheck(check);
    print(...(json ? [JSON.stringify(check)] : showCheck(check)));
    return check.valid ? EXIT.ok : EXIT.negative;
  },
};
