import type { Check } from '../api/shapes.js';
import { DateTime, Facts, Status } from './text.js';

type Timestamp = NonNullable<Check['timestamp']>;

/** The facts of a time-stamp. */
export const TimestampFacts = ({ timestamp }: { timestamp: Timestamp }) => (
  <>
    <Facts
      facts={{
        Time: (
          <>
            <DateTime at={timestamp.gen_time} seconds />
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
