import type { ReactNode } from 'react';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button } from './button.js';

type ConfirmProps = {
  /** The label of the button, and of the button that confirms. */
  action: string;
  /** The title of the dialog, such as “Delete this batch?”. */
  question: string;
  children: ReactNode;
  onConfirm: () => void;
  /** Whether the action is under way. */
  isPending: boolean;
  small?: boolean;
};

/** A button for an irreversible action, with a confirmation dialog. */
export const Confirm = ({ action, question, children, onConfirm, isPending, small = false }: ConfirmProps) => (
  <DialogTrigger>
    <Button variant="danger" small={small} isPending={isPending}>
      {action}
    </Button>
    <ModalOverlay className="overlay" isDismissable>
      <Modal className="modal">
        <Dialog role="alertdialog" className="dialog">
          {({ close }) => (
            <>
              <Heading slot="title">{question}</Heading>
              <div>{children}</div>
              <div className="actions">
                <Button onPress={close}>Cancel</Button>
                <Button
                  variant="danger"
                  onPress={() => {
                    onConfirm();
                    close();
                  }}
                >
                  {action}
                </Button>
              </div>
            </>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  </DialogTrigger>
);
