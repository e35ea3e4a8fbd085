import { MEMBER_STATES } from '@vat/domain';

/** The tables that grow with the use of the service; {@link fillStatements} fills them in proportion to the requests. */
export const GROWING_TABLES: readonly string[] = [
  ...[
    'request',
    'exchange',
    'check',
    'check_day',
    'usage_entry',
    'idempotency_key',
    'upstream_minute',
    'upstream_hour',
  ],
  ...['anchor', 'anchor_leaf', 'anchor_node', 'stamp', 'event', 'delivery', 'delivery_attempt'],
  ...['batch', 'batch_line', 'batch_upload', 'coverage', 'coverage_line', 'watch', 'watch_change', 'mail', 'mail_item'],
];

const ACCOUNTS = 50;
/** The last account is disabled and has only what has not ended. */
const DISABLED = ACCOUNTS - 1;
const LEAVES_PER_ANCHOR = 1_000;

/** The kinds of ids, which differ in a byte. */
const KINDS = [
  'account',
  'request',
  'check',
  'exchange',
  'event',
  'delivery',
  'anchor',
  'batch',
  'line',
  'watch',
  'change',
  'coverage',
  'supply',
  'mail',
];

/** SQL of the n-th UUIDv7 of a kind. `at`: its time in milliseconds; the n-th of the same millisecond are in order up to 4 096. */
const made = (kind: string, at: string, n: string): string =>
  `('0' || to_hex(((${at})::bigint << 16) | 28672 | ((${n}) & 4095))
    || to_hex((-9223372036854775808) | (${KINDS.indexOf(kind)}::bigint << 56) | (${n})))::uuid`;
const account = (index: string | number): string => made('account', '1700000000000', `(${index})`);
const time = (ms: string): string => `to_timestamp((${ms})::double precision / 1000)`;
const rows = (count: number): string => `FROM generate_series(0, ${count - 1}::bigint) AS n(i)`;
const clamp = (n: number, low: number, high: number): number => Math.max(low, Math.min(high, Math.round(n)));

/** The first account has 60 % of the rows, 48 others have the rest. */
const shareOf = (n: string): string => `CASE WHEN ${n} % 5 < 3 THEN 0 ELSE 1 + (${n}) / 5 % ${DISABLED - 1} END`;
/** Waiting lines belong to eleven accounts, some to the disabled one. */
const UPLOADER = `CASE WHEN i % 20 = 0 THEN ${DISABLED} ELSE i % 10 END`;

/** A check in about the size of a real one, as an SQL literal without the closing brace. */
const BODY = `'${JSON.stringify({
  ...{ object: 'check', request_id: 'req_01m7w2f7x8e9b8v2q4n6k1c3d5', country_code: 'FR', name: 'Generated' },
  ...{ address: '1 rue du Test, 75002 Paris', requester_vat_number: null, consultation_number: null },
  ...{ trader_match: null, trader: null, salt: '00112233445566778899aabbccddeeff', hash_profile: 'jcs-sha256-v1' },
  checks: [{ source: 'vies', outcome: 'valid', attempts: 1, started_at: '2026-01-01T00:00:00.000Z', duration_ms: 80 }],
  checked_at: '2026-01-01T00:00:00.000Z',
}).slice(0, -1)}'`;

/** What is filled: `requests` ended requests between two points in time, in milliseconds, evenly. */
type Filling = { requests: number; from: number; to: number };

/** The statements that fill an empty database, in an order that suits their reading from each other. */
export const fillStatements = ({ requests, from, to }: Filling): string[] => {
  const at = (n: string): string => `(${from} + (${n})::bigint * ${to - from} / ${requests})`;
  const end = time(`${to}`);
  const linesPerBatch = clamp(requests / 30, 100, 10_000);
  const batches = Math.ceil(requests / 3 / linesPerBatch);
  const batchOf = (n: string): string => `(${n}) / ${3 * linesPerBatch}`;
  const [direct, undispatched] = [clamp(requests / 1_000, 100, 3_000), clamp(requests / 100, 1_000, 20_000)];
  const watches = clamp(requests / 60, 200, 100_000);
  const anchored = Math.floor(requests * 0.99);

  // A row for each ended request, of which every third belongs to a batch. OFFSET: each column is computed once.
  const ended = `FROM (
      SELECT i, t, ${account(shareOf(`(CASE WHEN i % 3 = 1 THEN ${batchOf('i')} ELSE i END)`))} AS account,
        ${made('request', 't', 'i')} AS request, ${made('check', 't + 150', 'i')} AS "check",
        ${made('event', 't + 200', 'i')} AS event, ${made('delivery', 't + 201', 'i')} AS delivery,
        i % 50 = 6 AS test, i % 199 <> 1 AND i % 503 <> 2 AS completed, i % 11 <> 0 AND i % 97 <> 0 AS valid, i % 97 = 0 AS malformed,
        'FR' || i % ${Math.max(1, Math.floor(requests / 3))} + 10000000000 AS number,
        CASE WHEN i % 10 = 7 THEN 'order-' || CASE WHEN i % 20 = 7 THEN 7 ELSE i % 50000 END END AS reference
      FROM (SELECT i, ${at('i')} AS t ${rows(requests)}) AS n OFFSET 0
    ) AS e`;
  /** `count` requests that have not ended. `first`: the number of the first. */
  const live = (count: number, first: number, columns: Record<string, string>): string => {
    const row: Record<string, string> = {
      id: made('request', `${to} - 1000 + i / 100`, `${requests + first} + i`),
      account_id: account(`i % ${ACCOUNTS}`),
      test: 'false',
      state: `'pending'`,
      origin: `'batch'`,
      fed: 'true',
      entries: `'[]'`,
      quota_period: `to_char(${end}, 'YYYY-MM')`,
      ...{ input: 'i::text', national: 'i::text', vat_number: `'XX' || i` },
      country_code: `('{${MEMBER_STATES.join(',')}}'::text[])[1 + i % ${MEMBER_STATES.length}]`,
      created_at: end,
      window_ends_at: end,
      due_at: `${end} + interval '1 hour'`,
      give_up_at: `${end} + interval '1 day'`,
      ...columns,
    };
    return `INSERT INTO request (${Object.keys(row)}) SELECT ${Object.values(row)} ${rows(count)}`;
  };
  const waitingLines = 200_000;

  return [
    `INSERT INTO account (id, name, plan, disabled_at, created_at)
     SELECT ${account('i')}, 'Account ' || i, 'enterprise', CASE WHEN i = ${DISABLED} THEN ${end} END, ${end} ${rows(ACCOUNTS)}`,
    `INSERT INTO app_user (id, account_id, email, password_hash, created_at)
     SELECT id, id, id || '@example.com', '', ${end} FROM account`,
    `INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
     SELECT id, 'https://receiver.example', '\\x00', 'whsec_', ${end} FROM account`,
    // Checks with their requests, exchanges, ledger, leaves and time-stamps.
    `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, reference, entries, created_at,
       window_ends_at, accepted_at, ended_at, due_at, attempts, reason, check_id, origin, answer)
     SELECT request, account, test, CASE WHEN completed THEN 'completed' WHEN i % 199 = 1 THEN 'abandoned' ELSE 'withdrawn' END,
       number, 'FR', number, number, reference, '[{"source":"vies","outcome":"valid","attempts":1,"duration_ms":80}]', ${time('t')},
       ${time('t + 20000')}, CASE WHEN i % 3 = 0 THEN ${time('t + 20000')} END, ${time('t + 150')}, ${time('t')}, 1,
       CASE WHEN NOT completed THEN 'UPSTREAM_NO_ANSWER' END, CASE WHEN completed THEN "check" END,
       CASE WHEN i % 3 = 1 THEN 'batch' WHEN i % 6 = 2 THEN 'watch' ELSE 'direct' END,
       CASE WHEN completed THEN '{"verdict":"valid"}'::jsonb END ${ended}`,
    `INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, reference, checked_at, body, hash)
     SELECT "check", account, request, test, number, valid, reference, ${time('t + 150')},
       convert_to(${BODY} || ',"id":"chk_' || i || '","input":"' || number || '","vat_number":"' || number || '","valid":' || valid
         || ',"verdict":"' || CASE WHEN malformed THEN 'malformed' WHEN valid THEN 'valid' ELSE 'invalid' END
         || '","reference":' || coalesce('"' || reference || '"', 'null') || '}', 'UTF8'),
       sha256(int8send(i)) ${ended} WHERE completed`,
    `INSERT INTO check_day (account_id, day, valid, invalid, malformed)
     SELECT account_id, (checked_at AT TIME ZONE 'UTC')::date, count(*) FILTER (WHERE valid), count(*) FILTER (WHERE NOT valid), 0
     FROM "check" WHERE NOT test GROUP BY 1, 2`,
    `INSERT INTO exchange (id, request_id, source, started_at, duration_ms, method, url, request_headers, request_body,
       request_sha256, status, response_headers, response_body, response_sha256, complete)
     SELECT ${made('exchange', 't + 10', 'i')}, request, 'vies', ${time('t + 10')}, 80, 'POST', 'http://vies.example', '{}', '\\x7b7d',
       sha256('\\x7b7d'), 200, '{}', '\\x7b7d', sha256('\\x7b7d'), true ${ended} WHERE i % 3 = 0`,
    `INSERT INTO usage_entry (check_id, account_id, period, consumed_at)
     SELECT "check", account, to_char(${time('t')}, 'YYYY-MM'), ${time('t + 150')} ${ended}
     WHERE completed AND NOT test AND NOT malformed`,
    `INSERT INTO anchor_leaf (check_id, hash, anchor_seq, leaf_index)
     SELECT "check", sha256(int8send(i)), CASE WHEN i < ${anchored} THEN row / ${LEAVES_PER_ANCHOR} + 1 END,
       CASE WHEN i < ${anchored} THEN row % ${LEAVES_PER_ANCHOR} END
     FROM (SELECT i, "check", (row_number() OVER () - 1)::int AS row ${ended} WHERE completed AND NOT test) AS numbered`,
    `INSERT INTO anchor (id, seq, closed_at, tree_size, root, prev_anchor_hash, body, hash)
     SELECT ${made('anchor', at(`seq * ${LEAVES_PER_ANCHOR}`), 'seq')}, seq, ${time(at(`seq * ${LEAVES_PER_ANCHOR}`))}, ${LEAVES_PER_ANCHOR},
       sha256('\\x00'), sha256('\\x00'), '\\x7b7d', sha256(int8send(seq))
     FROM generate_series(1, (SELECT max(anchor_seq) FROM anchor_leaf)::bigint) AS n(seq)`,
    `INSERT INTO anchor_node (anchor_seq, level, place, hashes)
     SELECT seq, 6, 0, decode(repeat('00', 512), 'hex') FROM anchor`,
    `INSERT INTO stamp (subject_id, kind, account_id, digest, requested_at, attempts, token, gen_time, next_attempt_at)
     SELECT id, 'anchor', NULL, hash, closed_at, 1, CASE WHEN stamped THEN decode(repeat('00', 1500), 'hex') END,
       CASE WHEN stamped THEN closed_at END, CASE WHEN NOT stamped THEN ${end} END
     FROM (SELECT *, seq < (SELECT max(seq) - 2 FROM anchor) AS stamped FROM anchor) AS a
     UNION ALL
     SELECT "check", 'check', account, sha256(int8send(i)), ${time('t')}, 1, decode(repeat('00', 1500), 'hex'), ${time('t')}, NULL
     ${ended} WHERE completed AND NOT test AND i % 100 = 0`,
    // Events with their deliveries.
    `INSERT INTO event (position, id, account_id, type, subject_id, body, test, created_at)
     SELECT i + 1, event, account, CASE WHEN completed THEN 'check.completed' ELSE 'check.failed' END, request,
       '{"type":"check.completed","data":{"vat_number":"' || number || '"}}', test, ${time('t + 200')} ${ended} WHERE i % 3 = 0`,
    `INSERT INTO event (position, id, account_id, type, subject_id, body, test, created_at)
     SELECT i + 1, event, account, 'webhook.test', event, '{}', false, ${time('t + 200')} ${ended} WHERE i % 300 = 2`,
    `INSERT INTO delivery (id, account_id, event_id, event_type, generation, test, state, attempts, created_at, last_attempt_at,
       last_status_code, last_duration_ms)
     SELECT delivery, account, event, CASE WHEN completed THEN 'check.completed' ELSE 'check.failed' END, w.generation, test,
       CASE WHEN i % 40 = 3 THEN 'failed' ELSE 'successful' END, 1, ${time('t + 201')}, ${time('t + 300')}, 200, 80
     ${ended} JOIN webhook w ON w.account_id = account WHERE i % 3 = 0`,
    `INSERT INTO delivery_attempt (delivery_id, number, at, url, status_code, duration_ms, timings, answer, answer_truncated)
     SELECT delivery, 1, ${time('t + 300')}, 'https://receiver.example', 200, 80, '{"total_ms":80}', '\\x4f4b', false
     ${ended} WHERE i % 3 = 0`,
    `INSERT INTO delivery (id, account_id, event_id, event_type, generation, held, on_demand, state, created_at, next_attempt_at)
     SELECT ${made('delivery', `${to} - 1000 + i / 100`, `${requests} + i`)}, e.account_id, e.id, e.type, w.generation, e.held,
       i % 2 = 0, 'pending', ${end}, ${end} + interval '1 hour'
     FROM (
       SELECT CASE WHEN n.i % 4 = 0 THEN ${account(DISABLED)} ELSE account_id END AS account_id, id, type, n.i, n.i % 4 = 0 AS held
       FROM (SELECT *, row_number() OVER () AS i FROM event ORDER BY id DESC LIMIT ${direct}) AS n
     ) AS e JOIN webhook w ON w.account_id = e.account_id`,
    // Batches: completed ones, and those of eleven accounts that wait.
    `INSERT INTO batch (id, account_id, state, file_name, header, total, done, failed, valid, invalid, created_at, completed_at)
     SELECT ${made('batch', at(`b * ${3 * linesPerBatch}`), 'b')}, ${account(shareOf('b'))}, 'completed', 'file.csv', '["number"]',
       ${linesPerBatch}, ${linesPerBatch}, 0, ${linesPerBatch}, 0, ${time(at(`b * ${3 * linesPerBatch}`))},
       ${time(at(`(b + 1) * ${3 * linesPerBatch}`))}
     FROM generate_series(0, ${batches - 1}::bigint) AS n(b)`,
    `INSERT INTO batch_line (id, batch_id, line, status, input, vat_number, request_id, check_id, valid, error_code, cells)
     SELECT ${made('line', `${at(`${batchOf('i')} * ${3 * linesPerBatch}`)} + i / 3 % ${linesPerBatch}`, 'i')},
       ${made('batch', at(`${batchOf('i')} * ${3 * linesPerBatch}`), batchOf('i'))}, 1 + i / 3 % ${linesPerBatch},
       CASE WHEN completed THEN 'done' ELSE 'failed' END, number, number, request, CASE WHEN completed THEN "check" END,
       CASE WHEN completed THEN valid END, CASE WHEN NOT completed THEN 'UPSTREAM_NO_ANSWER' END, jsonb_build_array(number)
     ${ended} WHERE i % 3 = 1`,
    `INSERT INTO batch (id, account_id, state, file_name, header, total, created_at)
     SELECT ${made('batch', String(to), `${batches} + k`)}, ${account('k')}, 'running', 'file.csv', '["number"]', ${undispatched}, ${end}
     FROM unnest('{0,1,2,3,4,5,6,7,8,9,${DISABLED}}'::bigint[]) AS n(k)`,
    live(undispatched, waitingLines, { account_id: account(UPLOADER), fed: 'false' }),
    `INSERT INTO batch_line (id, batch_id, line, status, input, vat_number, request_id, cells)
     SELECT ${made('line', `${to} + i`, `${requests} + i`)}, b.id, i + 1, 'queued', 'XX', 'XX',
       ${made('request', `${to} - 1000 + i / 100`, `${requests + waitingLines} + i`)}, '["XX"]'
     ${rows(undispatched)} JOIN batch b ON b.state = 'running' AND b.account_id = ${account(UPLOADER)}`,
    `INSERT INTO batch_upload (id, account_id, lines, created_at)
     SELECT id, account_id, total, created_at FROM batch WHERE created_at > ${end} - interval '1 day'`,
    // A coverage of each completed batch, with the number of every line.
    `INSERT INTO coverage (id, account_id, file_name, header, max_age_days, min_grade, width, total, covered, stale, weak,
       invalid, missing, created_at)
     SELECT ${made('coverage', at(`b * ${3 * linesPerBatch}`), 'b')}, ${account(shareOf('b'))}, 'file.csv', '["number","date"]', 30,
       'basic', 2, ${linesPerBatch}, ${linesPerBatch}, 0, 0, 0, 0, ${time(at(`b * ${3 * linesPerBatch}`))}
     FROM generate_series(0, ${batches - 1}::bigint) AS n(b)`,
    `INSERT INTO coverage_line (id, coverage_id, line, status, input, vat_number, supply_date, check_id, checked_at, evidence_grade,
       cells)
     SELECT ${made('supply', `${at(`${batchOf('i')} * ${3 * linesPerBatch}`)} + i / 3 % ${linesPerBatch}`, 'i')},
       ${made('coverage', at(`${batchOf('i')} * ${3 * linesPerBatch}`), batchOf('i'))}, 1 + i / 3 % ${linesPerBatch},
       CASE WHEN completed AND valid THEN 'covered' ELSE 'missing' END, number, number, ${time('t')}::date,
       CASE WHEN completed AND valid THEN "check" END, CASE WHEN completed AND valid THEN ${time('t + 150')} END,
       CASE WHEN completed AND valid THEN 'basic' END, jsonb_build_array(number, '2026-01-01')
     ${ended} WHERE i % 3 = 1`,
    // Other requests that have not ended: accepted, with a waiting caller, of watches, dispatched lines, malformed lines.
    live(direct, 0, { origin: `'direct'`, accepted_at: end }),
    live(50, 20_000, { origin: `'direct'`, state: `'waiting'`, give_up_at: 'NULL' }),
    live(2 * MEMBER_STATES.length, 30_000, { origin: `'watch'` }),
    live(12 * MEMBER_STATES.length, 40_000, { account_id: account('i % 10') }),
    live(200, 50_000, {
      account_id: account('i % 10'),
      fed: 'false',
      answer: `'{"verdict":"malformed"}'`,
      quota_period: 'NULL',
    }),
    // Watches with their changes.
    `INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at, request_id)
     SELECT ${made('watch', at('i'), 'i')}, ${account(`CASE WHEN i % 8 = 0 THEN 0 ELSE i % ${ACCOUNTS} END`)}, 'FR' || i, 'FR', i::text, 'FR' || i,
       'daily', CASE WHEN i % 10 = 0 THEN 'paused' ELSE 'active' END, ${end}, ${end} + i % 86400 * interval '1 second',
       CASE WHEN i % 10 = 1 THEN ${made('request', `${to} - 1000 + i / 10 / 100`, `${requests + 30_000} + i / 10`)} END
     ${rows(watches)}`,
    `INSERT INTO watch_change (id, watch_id, kind, before, after, check_id, changed_at)
     SELECT ${made('change', at('i'), 'i')}, ${made('watch', at('i / 10'), 'i / 10')}, 'validity', 'true', 'false', ${made('check', at('i'), 'i')}, ${end}
     ${rows(watches)}`,
    `INSERT INTO event (position, id, account_id, type, subject_id, body, test, created_at)
     SELECT ${requests} + i + 1, ${made('event', at('i'), `${2 * requests} + i`)}, ${account('i % 20')}, 'watch.changed', ${made('change', at('i'), 'i')}, '{}', false, ${end}
     ${rows(watches)}`,
    `INSERT INTO newest_event (account_id, event_id, position)
     SELECT DISTINCT ON (account_id) account_id, id, position FROM event ORDER BY account_id, position DESC`,
    // Mails of the last month, one of which is on its way, and what waits for the next ones.
    `INSERT INTO mail (id, user_id, kind, state, item_count, subject_ids, created_at, next_attempt_at, ended_at)
     SELECT ${made('mail', at('i'), 'i')}, ${account(`i % ${ACCOUNTS}`)}, ('{failed_deliveries,quota,watch_changes}'::text[])[1 + i % 3],
       CASE WHEN i = 1 THEN 'pending' ELSE 'sent' END, 1, '{}', ${end} - i * interval '10 seconds',
       CASE WHEN i = 1 THEN ${end} END, CASE WHEN i <> 1 THEN ${end} - i * interval '10 seconds' END ${rows(watches)}`,
    `INSERT INTO mail_item (user_id, kind, subject_id, happened_at)
     SELECT ${account(`CASE WHEN i % 2 = 0 THEN 0 ELSE i % ${ACCOUNTS} END`)}, 'failed_deliveries', ${made('delivery', at('i'), 'i')},
       ${end} - i * interval '1 second' ${rows(watches)}`,
    // What is stored for a day or a month.
    `INSERT INTO idempotency_key (account_id, key, fingerprint, request_id, status, created_at, locked_until)
     SELECT ${account(shareOf('i'))}, 'key-' || i, sha256(int8send(i)), ${made('request', at('i'), 'i')}, 201,
       ${end} - i % 80000 * interval '1 second', ${end} ${rows(watches)}`,
    `INSERT INTO upstream_minute (member_state, minute, ended, asks, buckets)
     SELECT s, date_trunc('minute', ${end}) - i * interval '1 minute', 'answered', 10, '{1,2,3}'
     ${rows(1_440)}, unnest('{${MEMBER_STATES.join(',')}}'::text[]) AS s`,
    `INSERT INTO upstream_hour (hour, member_state, answered, saturated, unavailable, buckets)
     SELECT date_trunc('hour', ${end}) - i * interval '1 hour', s, 600, 10, 1, '{1,2,3}'
     ${rows(24 * 400)}, unnest('{${MEMBER_STATES.join(',')}}'::text[]) AS s`,
    `INSERT INTO usage (account_id, period, used) SELECT account_id, period, count(*) FROM usage_entry GROUP BY 1, 2`,
    `INSERT INTO usage (account_id, period, reserved)
     SELECT account_id, quota_period, count(*) FROM request WHERE state IN ('waiting', 'pending') AND quota_period IS NOT NULL
     GROUP BY 1, 2 ON CONFLICT (account_id, period) DO UPDATE SET reserved = excluded.reserved`,
  ];
};
