import { COVERAGE_COLUMNS, resultsFile } from '@vat/spreadsheet';
import type { DossierOptions } from './dossier-source.js';
import { sampleBody } from './sample-source.fixture.js';

/** The coverage of supplies on the day of the sample checks: the first is covered by check 1, the second by none. */
export const sampleCoverage = (): NonNullable<DossierOptions['coverage']> => ({
  id: '0195f1e2-0000-7000-8000-0000000000c0',
  files: async function* () {
    const { id, vat_number, checked_at } = sampleBody(1);
    const { header, row } = resultsFile({
      columns: COVERAGE_COLUMNS,
      header: ['VAT no.', 'Date', 'Note'],
      width: 3,
      bom: true,
    });
    const none = { check_id: null, checked_at: null, age_days: null, evidence_grade: null, error: null };
    const read = { vat_number_read: vat_number, supply_date_read: '2024-11-25' };
    const covered = { ...none, ...read, coverage: 'covered', check_id: id, checked_at, age_days: 5 } as const;
    const rows = [
      row([vat_number, '25.11.2024'], { ...covered, evidence_grade: 'qualified' }),
      // A cell may be as long as the uploaded file.
      row(['DE1', '25.11.2024', 'a "long" note, '.repeat(20_000)], {
        ...none,
        coverage: 'missing',
        vat_number_read: null,
        supply_date_read: '2024-11-25',
      }),
    ];
    yield { path: 'coverage/report.pdf', bytes: Buffer.from('%PDF-1.4\n') };
    yield { path: 'coverage/results.csv', bytes: Buffer.from([header(), ...rows].join('')) };
  },
});
