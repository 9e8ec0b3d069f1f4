"""What a page says when its connection to the server is lost, and how it comes back with the same run."""

from __future__ import annotations

import secrets

from bokeh.document import Document
from bokeh.models import CustomJS

STATUS = "zoviz-status"
"""The name of the model whose chip says that the connection is lost."""

# Bokeh 3.9 asks for the whole document again on a new websocket, but forgets what stands beside its text: a document
# with arrays cannot be read, and the page stays as it was. Half a message that was cut off is left in the receiver,
# and changes that come before the document may be of models that the page does not know. A server that has ended the
# session makes another of the same name, whose page is empty: its key tells it from ours. Bokeh gives up after five
# attempts; here there is one a second, and the address says whether a server answers that refuses the websocket.
_WATCH = """
    const page = Bokeh.documents.find(one => one.config.name === key);
    if (!page || page.watches_connection) return;
    page.watches_connection = true;
    const pause = 1000, patience = 5;
    let veil, connection, lost = 0, refused = 0, over = false;
    const chip = text => {
        const model = page.get_model_by_name(status);
        const found = model && Bokeh.index.find_one(model)?.markup_el?.querySelector(".zoviz-chip");
        if (found) Object.assign(found, {textContent: text, style: "background: #b3261e"});
    };
    const hold = on => {
        for (const part of document.body.children) if (part !== veil) part.inert = on;
    };
    const say = (text, word, reload) => {
        if (!veil) {
            veil = document.createElement("div");
            veil.className = "zoviz-connection";
            veil.style = "position: fixed; inset: 0; z-index: 99999; background: rgba(127, 127, 127, 0.35);" +
                "backdrop-filter: grayscale(1); font: 15px/1.4 Roboto, system-ui, sans-serif";
            veil.innerHTML = "<div role='alert' style='padding: 10px 16px; color: #fff; background: #b3261e;" +
                "text-align: center'></div>";
            document.body.append(veil);
        }
        const sentence = veil.firstChild;
        if (sentence.firstChild?.textContent !== text) {
            sentence.replaceChildren(text);
            if (reload) {
                const button = document.createElement("button");
                Object.assign(button, {textContent: "Reload", onclick: () => location.reload()});
                button.style = "margin-left: 12px; padding: 3px 14px; font: inherit; cursor: pointer";
                sentence.append(button);
            }
        }
        chip(word);
        hold(true);
    };
    const back = () => {
        lost = refused = 0;
        delete connection.session.handle;
        veil?.remove();
        veil = undefined;
        hold(false);
    };
    const end = () => {
        over = true;
        connection.close();
        say("This page's session has ended: the server was started anew, or the page was away for too long. A run " +
            "that was going on is under Stored runs, if runs are kept here: Resume run goes on with it.",
            "session ended", true);
    };
    const mend = () => {
        connection._receiver = new connection._receiver.constructor();
        connection.session.handle = () => {};
        if (connection.mended) return;
        connection.mended = true;
        // What the page would say while the new websocket opens is left out: it gets the whole document then.
        const send = connection.send;
        connection.send = message => {
            if (connection.socket?.readyState === WebSocket.OPEN) send.call(connection, message);
        };
        const pull = connection._pull_doc_json;
        let buffers;
        connection._pull_doc_json = async () => {
            const answer = await pull.call(connection);
            buffers = answer.buffers;
            return answer;
        };
        page.replace_with_json = json => {
            const whole = page.constructor.from_json(json, [], buffers);
            Bokeh.documents.splice(Bokeh.documents.indexOf(whole), 1);
            if (whole.config.name !== key) {
                end();
                throw new Error("The session has ended.");
            }
            whole.destructively_move(page);
        };
    };
    const answers = () => fetch(location.origin + location.pathname, {method: "HEAD"}).then(() => true, () => false);
    page.on_event("connection_lost", async (_, event) => {
        connection = event.connection.deref() ?? connection;
        if (over || !connection?.session) return;
        mend();
        lost += 1;
        say(lost > patience ? "Connection lost: the server does not answer. Reconnecting…" :
            "Connection lost, reconnecting… The numbers are those of the moment it was lost.",
            "connection lost", false);
        refused = lost > 1 && await answers() ? refused + 1 : 0;
        if (refused === 3) end();
        else setTimeout(() => event.reconnect(), lost > 1 ? pause : 0);
    });
    page.on_event("client_reconnected", () => { if (!over) back(); });
"""


def watch_connection(document: Document) -> None:
    """Have a page say at once that its connection is lost, come back by itself, and say where its session has ended."""
    key = secrets.token_hex(8)
    document.config.update(name=key, reconnect_session=False, notify_connection_status=False)
    document.js_on_event("document_ready", CustomJS(args={"key": key, "status": STATUS}, code=_WATCH))
