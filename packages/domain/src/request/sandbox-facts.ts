import type { CheckEntry } from '../check/entry.js';
import { type MatchLetter, SANDBOX_REGISTERED, type SourceFacts } from '../check/facts.js';
import type { Answer } from '../check/upstream.js';
import type { EnrichmentSourceName } from '../check-sources.js';
import { agreementOf } from '../match/agreement.js';
import { matchTrader, type ScoredPart } from '../match/match-trader.js';
import type { MemberState } from '../member-states.js';
import { splitVatNumber } from './lookup.js';
import type { CheckRequest } from './request.js';

/** National parts that a test key may send in any country's syntax. */
export const SANDBOX_NUMBERS: readonly string[] = [
  ...['100', '101', '102', '103', '200', '201', '202', '300', '301', '302'],
  ...['400', '401', '500', '501', '600', '601', '700', '701'],
];

/** The national registers that the sandbox stands in for. */
const REGISTERS: Partial<Record<MemberState, EnrichmentSourceName>> = {
  PL: 'pl_white_list',
  CZ: 'cz_ares',
  RO: 'ro_anaf',
  FR: 'fr_recherche_entreprises',
  FI: 'fi_prh',
};

type SandboxRequest = Pick<CheckRequest, 'test' | 'memberState' | 'national' | 'vatNumber' | 'requester' | 'trader'>;

const entryOf = (source: EnrichmentSourceName, { answeredAt }: Answer, facts: SourceFacts): CheckEntry => ({
  source,
  outcome: 'found',
  started_at: answeredAt,
  duration_ms: 0,
  detail: 'Sandbox: the source was not called.',
  facts,
});

const registerEntry = (
  source: EnrichmentSourceName,
  { national, vatNumber }: SandboxRequest,
  answer: Answer,
): CheckEntry => {
  const isListed = national === '102';
  const facts = {
    ...(answer.name === null ? {} : { name: answer.name }),
    ...(answer.address === null ? {} : { address: answer.address.replaceAll('\n', ', ') }),
    status: isListed ? SANDBOX_REGISTERED : 'Sandbox: not registered',
    register_id: `SANDBOX-${vatNumber}`,
    ...(source === 'fr_recherche_entreprises' ? { vat_numbers: isListed ? [vatNumber] : [] } : {}),
    ...(source === 'pl_white_list' ? { receipt: `SANDBOX-${vatNumber}` } : {}),
  };
  return { ...entryOf(source, answer, facts), ...(isListed ? {} : { contradicts: true as const }) };
};

/** The answer of eVatR, which compares the details when name and city were given. */
const evatrEntry = ({ memberState, vatNumber, trader }: SandboxRequest, answer: Answer): CheckEntry => {
  const match = matchTrader(trader, [{ source: 'vies', memberState, name: answer.name, address: answer.address }]);
  const letter = (part: ScoredPart): MatchLetter => {
    if (!trader?.[part]) return 'C';
    return agreementOf(match?.[part]?.score ?? 0) === 'agrees' ? 'A' : 'B';
  };
  const isQualified = Boolean(trader?.name && trader.city);
  return entryOf('de_evatr', answer, {
    status: 'evatr-0000',
    receipt: `SANDBOX-${vatNumber}`,
    ...(isQualified
      ? {
          matches: {
            name: letter('name'),
            street: letter('street'),
            postal_code: letter('postal_code'),
            city: letter('city'),
          },
        }
      : {}),
  });
};

/**
 * The entries of registers in a test key's check, so that every grade can be tried: for 102 the register of the member
 * state lists the trader, and eVatR confirms it to a German requester; for 103 the register contradicts. No source is
 * called. Empty for live requests.
 */
export const sandboxEntries = (request: SandboxRequest, answer: Answer): CheckEntry[] => {
  const { test, memberState, national, requester } = request;
  if (!test || answer.verdict !== 'valid' || (national !== '102' && national !== '103')) return [];
  const register = REGISTERS[memberState];
  const isGerman = requester !== null && splitVatNumber(requester)?.memberState === 'DE';
  return [
    ...(register ? [registerEntry(register, request, answer)] : []),
    ...(national === '102' && isGerman && memberState !== 'DE' ? [evatrEntry(request, answer)] : []),
  ];
};
