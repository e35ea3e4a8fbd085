type MomentProps = { at: string; seconds?: boolean };

/** A moment in the reader's own time and manner; pointing at it shows it to the millisecond, as the API has it. */
export const Moment = ({ at, seconds = false }: MomentProps) => (
  <time dateTime={at} title={at}>
    {new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: seconds ? 'medium' : 'short' }).format(
      new Date(at),
    )}
  </time>
);
