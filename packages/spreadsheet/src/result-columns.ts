/** The columns that a results file adds behind those of the uploaded file, in order. Source: contract part 2 §5. */
export const RESULT_COLUMNS = [
  'vat_number',
  'valid',
  'verdict',
  'name',
  'address',
  'consultation_number',
  'check_id',
  'error',
] as const;
