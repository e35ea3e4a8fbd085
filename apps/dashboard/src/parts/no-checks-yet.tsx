import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Changing } from '../session/session.js';
import { Empty } from './states.js';

/** The link to the page that makes a check, for users who may. */
export const NewCheck = ({ children, className = 'button primary' }: { children: ReactNode; className?: string }) => (
  <Changing>
    <Link to="/checks/new" className={className}>
      {children}
    </Link>
  </Changing>
);

/** Placeholder for the checks of an account that has none. `children`: what will appear here. */
export const NoChecksYet = ({ children }: { children: ReactNode }) => (
  <Empty title="No checks yet" action={<NewCheck className="button">Make your first check</NewCheck>}>
    {children}
  </Empty>
);
