import type { CheckEntry } from '../../api/shapes.js';
import { Facts } from '../../parts/facts.js';

const LETTERS = { A: 'agrees', B: 'differs', C: 'not asked', D: 'not given by the member state' } as const;
const PARTS = { name: 'Name', street: 'Street', postal_code: 'Postal code', city: 'City' } as const;

type Stated = NonNullable<CheckEntry['facts']>;

const compared = (matches: Stated['matches']) =>
  matches &&
  (Object.keys(PARTS) as (keyof typeof PARTS)[])
    .map((part) => `${PARTS[part]}: ${LETTERS[matches[part]]} (${matches[part]})`)
    .join(' · ');

/** What a register states, in its own words. */
export const SourceFacts = ({ facts }: { facts: Stated }) => (
  <Facts
    facts={{
      Name: facts.name,
      Address: facts.address,
      'Legal form': facts.legal_form,
      Status: facts.status,
      'Registered since': facts.registered_since,
      'Registered until': facts.registered_until,
      'Register number': facts.register_id,
      'VAT numbers': facts.vat_numbers && (facts.vat_numbers.join(', ') || 'none'),
      Receipt: facts.receipt && <code>{facts.receipt}</code>,
      Comparison: compared(facts.matches),
    }}
  />
);
