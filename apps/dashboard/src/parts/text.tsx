import { type ReactNode, useId } from 'react';
import { CopyButton } from './button.js';

type CardProps = { title: string; children: ReactNode; actions?: ReactNode; hint?: ReactNode };

/** A part of a page under a heading; assistive technology knows it as the region of that name. */
export const Card = ({ title, children, actions, hint }: CardProps) => {
  const id = useId();
  return (
    <section className="card" aria-labelledby={id}>
      <div className="card-head">
        <h2 id={id}>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </div>
      {hint && <p className="hint">{hint}</p>}
      {children}
    </section>
  );
};

/** Names and what they stand for; those without a value are left out. */
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

/** An id or a hash, whole, with a button to copy it. */
export const IdText = ({ id, what }: { id: string; what: string }) => (
  <span className="id-text">
    <code>{id}</code>
    <CopyButton text={id} what={what} />
  </span>
);

type MomentProps = { at: string; seconds?: boolean };

/** A moment in the reader's own time and manner; pointing at it shows it to the millisecond, as the API has it. */
export const Moment = ({ at, seconds = false }: MomentProps) => (
  <time dateTime={at} title={at}>
    {new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: seconds ? 'medium' : 'short' }).format(
      new Date(at),
    )}
  </time>
);

type PageProps = { title: string; children: ReactNode; actions?: ReactNode; above?: ReactNode; lead?: ReactNode };

/** The frame of a page: its one h1, which names the browser's window too, and what can be done here. */
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

/** The contract's words for states, outcomes and verdicts, by what they mean for who reads them. */
const TONES: Record<string, readonly string[]> = {
  good: ['valid', 'successful', 'completed', 'done', 'active', 'found', 'ok', 'live'],
  bad: ['invalid', 'failed', 'abandoned', 'down', 'blocked', 'disabled', 'revoked'],
  warn: ['malformed', 'degraded', 'saturated', 'unavailable', 'timeout', 'rejected', 'contradicts'],
  busy: ['pending', 'running', 'queued', 'revoking'],
};

/** A state in the contract's own word. */
export const Status = ({ word }: { word: string }) => {
  const tone = Object.keys(TONES).find((name) => TONES[name]?.includes(word)) ?? 'calm';
  return <span className={`status ${tone}`}>{word}</span>;
};

/** Something that is shown this once: in full, to be copied now. */
export const SecretOnce = ({ what, text }: { what: string; text: string }) => (
  <div className="secret" role="status">
    <p>
      <strong>Copy the {what} now.</strong> It is shown this once and kept nowhere in readable form.
    </p>
    <div className="secret-row">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  </div>
);
