/** What a problem means, and what to do. The same as in `assets/verify.py`; a test compares both. */
export const ADVICE = {
  copy: {
    meaning: 'This copy is not the dossier that was exported.',
    action:
      'Do not rely on it. Unpack the zip file again into an empty folder; if the problem remains, export the dossier again or ask for the original.',
  },
  damaged: {
    meaning: 'A part of the dossier is damaged, or is not what it should be, so it proves nothing.',
    action: 'Download or copy the dossier again.',
  },
  format: {
    meaning: 'The dossier was made by a later release than this program.',
    action: 'Download the current program from GET /verifier of the service, and run it on this dossier.',
  },
  record: {
    meaning: 'The dossier contradicts itself: a part of it was changed, replaced or left out before it was sealed.',
    action:
      'Do not rely on this record. Export the dossier again, and compare the response_hash of the check with the response that you received from the service.',
  },
  proof: {
    meaning: 'Nothing proves that this check existed when its anchor was stamped.',
    action:
      'Do not rely on its time. Export the dossier again; if the problem remains, report it to the operator of the service.',
  },
  chain: {
    meaning: 'The anchors are not the unbroken series that the service published: one of them was changed or replaced.',
    action:
      'Compare root and prev_anchor_hash of these anchors with GET /v1/anchors, or with the dossier of another customer.',
  },
  seal: {
    meaning: 'Nothing independent shows when this dossier was made, or that it is unchanged since then.',
    action: 'Export the dossier again. If you received it from somebody else, ask for the original.',
  },
  stamp: {
    meaning: 'This time-stamp proves nothing about the time.',
    action:
      'If you used --roots, make sure that the file contains the root certificates of all authorities that stamped the dossier, also of earlier ones. Otherwise export the dossier again.',
  },
  expired: {
    meaning:
      'The certificate of this time-stamp had expired before the dossier was made. Whoever obtained its key after that could have made the time-stamp.',
    action:
      'Do not rely on its time. The content is proved since the later time-stamp that is named, or since the dossier was made.',
  },
  time: {
    meaning: 'A time-stamp cannot be older than what it stamps, so one of the two times is false.',
    action: 'Do not rely on either time; ask the operator of the service which one is right.',
  },
  coverage: {
    meaning:
      'The check does not prove that the number was valid at the time of this supply, or the results say something else than the check.',
    action: 'Treat the supply as not covered, and make the coverage again from your list of supplies.',
  },
} as const;

/**
 * The kinds of problems of a dossier: the sentence of each, with the names in braces filled in, and its advice. The same as in
 * `assets/verify.py`. The codes are public (docs/evidence.md) and do not change.
 */
export const PROBLEM_KINDS = {
  irregular_file: ['{file} is not an ordinary file', 'copy'],
  file_repeated: ['{file} is in the zip file twice', 'copy'],
  file_damaged: ['{file} cannot be unpacked: {reason}', 'damaged'],
  sums_line: ['{file} has a line that is malformed or repeated: {line}', 'copy'],
  file_missing: ['{file} is missing', 'copy'],
  file_added: ['{file} was added: SHA256SUMS does not name it', 'copy'],
  file_changed: ['{file} was changed: its SHA-256 is not the one in SHA256SUMS', 'copy'],
  rest_missing: ['{file} is missing, so the rest cannot be checked', 'copy'],
  unreadable: ['{file} cannot be read, so the rest cannot be checked: {reason}', 'damaged'],
  format_unknown: ['{file} has a format that this program does not support', 'format'],
  check_repeated: ['{file} contains a check twice', 'record'],
  check_renamed: ['{file} contains the check {check_id}', 'record'],
  check_form: ['{file} is not in the form that is hashed (RFC 8785)', 'record'],
  check_unlisted: ['{check_id} is missing in checks.csv', 'record'],
  check_hash: ['the hash of {file} differs from the one in checks.csv', 'record'],
  check_cell: ['checks.csv differs from {file} in {column}', 'record'],
  check_missing: ['checks.csv names {check_id}, which is not in checks/', 'record'],
  body_renamed: ['{file} is not the file that its exchange names', 'record'],
  body_unexpected: ['{file} belongs to an exchange without such a body', 'record'],
  body_differs: ['{file} differs from what its exchange records (size, SHA-256)', 'record'],
  body_unclaimed: ['{file} belongs to no exchange', 'record'],
  exchange_unclaimed: ['{file} belongs to a check that the dossier does not contain', 'record'],
  request_renamed: ['{file} contains another request', 'record'],
  requests_differ: ['{file} and requests/ differ', 'record'],
  count_differs: ['{file} counts {stated} {name}; there are {found}', 'record'],
  anchor_form: ['{file} is not an anchor in the form that is hashed', 'chain'],
  anchor_renamed: ['{file} is anchor {seq}', 'chain'],
  anchor_first: ['{file} is the first anchor but names a previous one', 'chain'],
  chain_broken: ['the chain breaks at {file}: it does not follow from anchors/{before}.json', 'chain'],
  anchor_early: ['{file} was closed before the previous anchor', 'chain'],
  proof_repeated: ['proofs.jsonl contains {check_id}, or its position in anchor {seq}, twice', 'proof'],
  proof_unclaimed: ['proofs.jsonl names {check_id} and anchor {seq}, and the dossier does not contain both', 'proof'],
  proof_wrong: ['the proof of {check_id} does not lead to the root of anchor {seq}', 'proof'],
  proof_anchor: ['checks.csv and the proof of {check_id} name different anchors', 'proof'],
  proof_missing: ['the proof of {check_id} is missing', 'proof'],
  seal_missing: [
    '{file} is missing: it is the time-stamp of the whole dossier. If the dossier was exported without it, the time-stamping authority did not answer at that moment',
    'seal',
  ],
  stamp_listed: ['checks.csv and timestamps/ differ about {check_id}', 'record'],
  stamp_of_nothing: ['{file} is a time-stamp of a file that the dossier does not contain', 'stamp'],
  stamp_of_other: ['{file} is not a time-stamp of the content of {stamped}', 'stamp'],
  stamp_wrong: ['{file} does not verify: {reason}', 'stamp'],
  stamp_expired: ['the certificate of {file} expired on {expired}, {reason}', 'expired'],
  stamp_unreadable: ['{file} cannot be read as a time-stamp ({reason})', 'stamp'],
  roots_missing: ['{file} contains no root certificate', 'stamp'],
  stamped_early: ['{file} was stamped {stamped}, before its content was made ({made})', 'time'],
  anchored_early: ['{check_id} was checked {checked}, after its anchor {seq} was closed', 'time'],
  coverage_columns: ['{file} does not have the columns of a coverage', 'coverage'],
  coverage_cell: ['row {row} of {file} differs from the check {check_id} in {column}', 'coverage'],
  coverage_unproved: ['row {row} of {file} is called covered, but the check {check_id} {reason}', 'coverage'],
} as const satisfies Readonly<Record<string, readonly [sentence: string, advice: keyof typeof ADVICE]>>;

export type ProblemCode = keyof typeof PROBLEM_KINDS;
