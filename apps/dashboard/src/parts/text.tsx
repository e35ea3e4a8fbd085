import { type FocusEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import type { Check } from '../api/shapes.js';
import { CopyButton } from './button.js';

type CardProps = { title: string; children: ReactNode; actions?: ReactNode; hint?: ReactNode };

/**
 * Takes the focus when the element in it that had the focus is gone, such as the row of a member who was removed: keyboard users
 * would start again at the top of the page.
 */
const useFocusOfRemoved = () => {
  const ref = useRef<HTMLElement>(null);
  const hasFocus = useRef(false);
  useLayoutEffect(() => {
    if (hasFocus.current && document.activeElement === document.body) ref.current?.focus({ preventScroll: true });
  });
  return {
    ref,
    tabIndex: -1,
    // Also called for dialogs, which are elsewhere in the document.
    onFocus: ({ target }: FocusEvent) => {
      hasFocus.current = ref.current?.contains(target) ?? false;
    },
    // React calls this for no element that it removes.
    onBlur: () => {
      hasFocus.current = false;
    },
  };
};

/** A section of a page with a heading, which is also the name of its region. */
export const Card = ({ title, children, actions, hint }: CardProps) => {
  const id = useId();
  return (
    <section className="card" aria-labelledby={id} {...useFocusOfRemoved()}>
      <div className="card-head">
        <h2 id={id}>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </div>
      {hint && <p className="hint">{hint}</p>}
      {children}
    </section>
  );
};

/** A list of names and values. Entries without a value are omitted. */
export const Facts = ({ facts }: { facts: Record<string, ReactNode> }) => (
  <dl className="facts">
    {Object.entries(facts)
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);

/** A full id or hash with a button to copy it. */
export const IdText = ({ id, what }: { id: string; what: string }) => (
  <span className="id-text">
    <code>{id}</code>
    <CopyButton text={id} what={what} />
  </span>
);

type MomentProps = { at: string; exact?: boolean };

/** The long style has seconds and the time zone: the page may be printed, or read beside the UTC of a file. */
const STYLES = {
  short: { dateStyle: 'medium', timeStyle: 'short' },
  exact: { dateStyle: 'medium', timeStyle: 'long' },
} as const;

/** A time in the locale and time zone of the user, `exact` with seconds and the zone. The tooltip shows the value of the API. */
export const DateTime = ({ at, exact = false }: MomentProps) => (
  <time dateTime={at} title={at}>
    {new Intl.DateTimeFormat(undefined, STYLES[exact ? 'exact' : 'short']).format(new Date(at))}
  </time>
);

/** When a request is looked up next. One that is due waits for its turn: its member state is down or busy, or no worker runs. */
export const NextAttempt = ({ at }: { at: string }) =>
  Date.parse(at) > Date.now() ? <DateTime at={at} exact /> : 'due, waiting for its turn';

/** The icon and the name of the service, for pages without navigation. */
export const Brand = () => (
  <>
    <img src="/app/icon.svg" alt="" width="28" height="28" />
    <span>VAT Validation Service</span>
  </>
);

type PageProps = { title: string; children: ReactNode; actions?: ReactNode; above?: ReactNode; lead?: ReactNode };

/** Layout of a page: its h1, which is also the title of the window, and its actions. */
export const Page = ({ title, children, actions, above, lead }: PageProps) => (
  <div className="page">
    <title>{`${title} · VAT Validation Service`}</title>
    {above && <div className="above">{above}</div>}
    <div className="page-head">
      <h1>{title}</h1>
      {actions && <div className="actions">{actions}</div>}
    </div>
    {lead && <div className="lead">{lead}</div>}
    {children}
  </div>
);

/** Colour of statuses, outcomes and verdicts. */
const TONES: Record<string, readonly string[]> = {
  good: [
    'valid',
    'successful',
    'completed',
    'done',
    'active',
    'found',
    'ok',
    'live',
    'agrees',
    'corroborated',
    'qualified',
    'covered',
  ],
  bad: ['invalid', 'failed', 'abandoned', 'down', 'blocked', 'disabled', 'revoked', 'differs'],
  warn: [
    'malformed',
    'degraded',
    'saturated',
    'unavailable',
    'timeout',
    'rejected',
    'contradicts',
    'undecided',
    'stale',
    'weak',
  ],
  busy: ['pending', 'running', 'queued', 'revoking'],
};

/** A status as the API spells it. */
export const Status = ({ word }: { word: string }) => {
  const tone = Object.keys(TONES).find((name) => TONES[name]?.includes(word)) ?? 'calm';
  return <span className={`status ${tone}`}>{word}</span>;
};

/** A secret that is shown once, with a button to copy it. */
export const SecretOnce = ({ what, text }: { what: string; text: string }) => (
  <div className="secret" role="status">
    <p>
      <strong>Copy the {what} now.</strong> You will not be able to see it again.
    </p>
    <div className="secret-row">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  </div>
);

type Timestamp = NonNullable<Check['timestamp']>;

/** The facts of a time-stamp. */
export const TimestampFacts = ({ timestamp }: { timestamp: Timestamp }) => (
  <>
    <Facts
      facts={{
        Time: (
          <>
            <DateTime at={timestamp.gen_time} exact />
            {timestamp.accuracy_ms !== null && ` ± ${timestamp.accuracy_ms} ms`}
          </>
        ),
        Authority: (
          <>
            {timestamp.authority} {timestamp.development && <Status word="development" />}
          </>
        ),
        'Serial number': <code>{timestamp.serial}</code>,
        Policy: <code>{timestamp.policy}</code>,
      }}
    />
    {timestamp.development && (
      <p className="hint">
        Issued by the development authority of this service. It does not prove the time to third parties.
      </p>
    )}
  </>
);
