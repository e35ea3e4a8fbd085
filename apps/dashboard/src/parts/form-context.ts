import { createContext } from 'react';

/** What keeps a form from being sent: the id of the input and what is wrong with it. Null when nothing does. */
export type Unfit = { id: string; text: string } | null;

/** Carries what is wrong from a form to its field. */
export const FormContext = createContext<Unfit>(null);
