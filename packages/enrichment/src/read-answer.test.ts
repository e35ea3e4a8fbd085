import type { EnrichmentSourceName } from '@vat/domain';
import type { RecordedCall } from '@vat/outgoing';
import fc from 'fast-check';
import { SUBJECTS } from './local-source.fixture.js';
import { readAnswer } from './read-answer.js';
import type { SourceDefinition } from './source-definition.js';
import { czAres } from './sources/cz-ares.js';
import { deEvatr } from './sources/de-evatr.js';
import { fiPrh } from './sources/fi-prh.js';
import { frRechercheEntreprises } from './sources/fr-recherche-entreprises.js';
import { gleif } from './sources/gleif.js';
import { plWhiteList } from './sources/pl-white-list.js';
import { roAnaf } from './sources/ro-anaf.js';

const callWith = (status: number, body: string): RecordedCall => ({
  end: 'complete',
  errorCode: null,
  startedAt: new Date(0),
  durationMs: 1,
  request: { method: 'GET', url: 'http://localhost/', headers: {}, body: new Uint8Array() },
  response: { status, headers: {}, body: new TextEncoder().encode(body), complete: true },
  error: null,
});

const TODAY = '2026-11-20';
const definitions: SourceDefinition[] = [plWhiteList, czAres, roAnaf, frRechercheEntreprises, fiPrh, deEvatr, gleif];
const found: Record<EnrichmentSourceName, (thing: unknown) => unknown> = {
  pl_white_list: (thing) => ({
    result: {
      entries: [
        {
          identifier: '5260250274',
          subjects: [{ statusVat: thing, name: thing, accountNumbers: thing, removalDate: thing, krs: thing }],
          error: thing === null ? thing : { message: thing },
        },
      ],
      requestId: thing,
    },
  }),
  cz_ares: (thing) => ({ obchodniJmeno: 'x', sidlo: thing, seznamRegistraci: thing, dic: thing, pravniForma: thing }),
  ro_anaf: (thing) => ({
    found: [{ date_generale: { denumire: thing }, inregistrare_scop_Tva: thing, stare_inactiv: thing }],
  }),
  fr_recherche_entreprises: (thing) => ({
    results: [
      {
        siren: '303265045',
        nom_complet: thing,
        statut_diffusion: thing,
        siege: thing,
        etat_administratif: thing,
        tva: thing,
      },
    ],
  }),
  fi_prh: (thing) => ({
    companies: [
      {
        businessId: { value: '0112038-9' },
        names: thing,
        registeredEntries: thing,
        addresses: thing,
        companyForms: thing,
      },
    ],
  }),
  de_evatr: (thing) => ({ status: 'evatr-0000', id: thing, gueltigAb: thing, ergFirmenname: thing, ergOrt: thing }),
  gleif: (thing) => ({
    data: [
      {
        attributes: {
          lei: 'x',
          entity: {
            legalName: { name: 'Google Ireland Limited' },
            legalAddress: thing,
            legalForm: thing,
            status: thing,
          },
          registration: thing,
        },
      },
    ],
  }),
};

const accept = (definition: SourceDefinition, status: number, json: unknown) => {
  const answer = readAnswer(definition, callWith(status, JSON.stringify(json)), SUBJECTS[definition.name], () => TODAY);
  expect(answer.detail?.length ?? 1).toBeLessThanOrEqual(300);
  expect(answer.code?.length ?? 1).toBeLessThanOrEqual(100);
  for (const text of [answer.detail, answer.code]) expect(text ?? 'x').not.toMatch(/[\p{Cc}\p{Cs}]/u);
  return answer;
};

test.each(definitions)('$name reads any JSON with any status without throwing', (definition) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 200, max: 599 }), (thing, status) => {
      accept(definition, status, thing);
    }),
  );
});

test.each(definitions)('$name still finds the company when a field has another type', (definition) => {
  fc.assert(
    fc.property(fc.jsonValue(), (thing) => {
      expect(accept(definition, 200, found[definition.name](thing)).outcome).toBe('found');
    }),
  );
});

test.each(definitions)('$name accepts no finding with a 5xx', (definition) => {
  for (const status of [500, 502, 503, 504]) {
    expect(accept(definition, status, found[definition.name]('x')).outcome).toBe('unavailable');
  }
});

test.each([
  { definition: czAres, status: 404, form: (code: string) => ({ kod: 'NENALEZENO', subKod: code }) },
  { definition: czAres, status: 400, form: (code: string) => ({ kod: code }) },
  { definition: czAres, status: 503, form: (code: string) => ({ kod: code }) },
  {
    definition: plWhiteList,
    status: 200,
    form: (code: string) => ({ result: { entries: [{ identifier: '5260250274', error: { code } }], requestId: 'x' } }),
  },
])(
  'a code of $definition.name (HTTP $status) is text that can be hashed and stored',
  ({ definition, status, form }) => {
    expect(accept(definition, status, form('A\u0000B\u007f\ud800\nC')).code).toBe('A B C');
    expect(accept(definition, status, form('\u0000'))).not.toHaveProperty('code');
    accept(definition, status, form('A'.repeat(400_000)));
  },
);
