// The browser's own storage of sessions: what a page was about, and its runs as files. Nothing here leaves the browser.

const DAY = 86400000;
const TABLES = ["sessions", "runs", "files"];

function answered(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

let opening;
function database() {
  const made = () => {
    const request = indexedDB.open("workbench", 1);
    request.onupgradeneeded = () => TABLES.forEach((name) => request.result.createObjectStore(name, { keyPath: "id" }));
    return answered(request);
  };
  return (opening ??= made());
}

// act is given all tables by name, and waits for nothing but them; it takes effect as a whole.
async function within(act) {
  const change = (await database()).transaction(TABLES, "readwrite");
  const over = new Promise((resolve, reject) => {
    change.oncomplete = resolve;
    change.onabort = () => reject(change.error);
  });
  const table = Object.fromEntries(TABLES.map((name) => [name, change.objectStore(name)]));
  const result = await act(table);
  await over;
  return result;
}

function remove(table, runs) {
  for (const { id } of runs) {
    table.runs.delete(id);
    table.files.delete(id);
  }
}

// Sessions that have runs, the latest first; what is older than so many days goes.
export function keptSessions(days) {
  return within(async (table) => {
    const [sessions, runs] = [await answered(table.sessions.getAll()), await answered(table.runs.getAll())];
    const old = sessions.filter(({ changed }) => changed < Date.now() - days * DAY);
    for (const { id } of old) {
      table.sessions.delete(id);
      remove(table, runs.filter(({ session }) => session === id));
    }
    const counted = sessions.filter((one) => !old.includes(one)).map((one) => ({ ...one, runs: runs.filter(({ session }) => session === one.id).length }));
    return counted.sort((one, other) => other.changed - one.changed);
  });
}

// What a session is about: {id, link, view}.
export function keepSession(session) {
  return within((table) => answered(table.sessions.put({ ...session, changed: Date.now() })));
}

// Keeps the file of a run; where all together are more than so many bytes the oldest runs go.
export function keepRun(run, content, most) {
  return within(async (table) => {
    table.runs.put({ ...run, size: content.byteLength, changed: Date.now() });
    table.files.put({ id: run.id, content });
    const runs = (await answered(table.runs.getAll())).sort((one, other) => other.changed - one.changed);
    let sum = 0;
    remove(table, runs.filter(({ size }) => (sum += size) > most));
  });
}

// The runs of a session in their order, with their files.
export function runsOf(session) {
  return within(async (table) => {
    const runs = (await answered(table.runs.getAll())).filter((run) => run.session === session);
    runs.sort((one, other) => one.order - other.order);
    for (const run of runs) run.content = (await answered(table.files.get(run.id))).content;
    return runs;
  });
}

export function dropRuns(ids) {
  return within((table) => remove(table, ids.map((id) => ({ id }))));
}

// The runs of a session become another one's.
export function adopt(old, session) {
  return within(async (table) => {
    table.sessions.delete(old);
    for (const run of await answered(table.runs.getAll())) if (run.session === old) table.runs.put({ ...run, session });
  });
}

export function forgetAll() {
  return within((table) => TABLES.forEach((name) => table[name].clear()));
}
