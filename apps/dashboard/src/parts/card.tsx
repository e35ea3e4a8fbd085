import { type ReactNode, useId } from 'react';

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
