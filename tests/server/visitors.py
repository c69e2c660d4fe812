"""Visitors of a server that dies: what each was told, and whether a server that has started again still says so.

Each has memos and threads of its own, and does one thing after the other. What was sent when the server died may have been
done or not, but wholly, and stays as it is found.
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import httpx

from tests.server.test_app import AMBIGUOUS

BUCKET = "generic"
PICKED = "CBC-10904"
"""What `AMBIGUOUS` is replied with; it means the document `cobaltine-cbc-10904`."""
OLD_ONES = 2
"""Memos and threads that are looked at again in each round though nothing was done to them."""
ENOUGH = 3
"""Memos above which some visits bring none in."""
PEOPLE = ("Ada Quay", "Ben Winch", "Cleo Tide", "Dov Mast")


@dataclass
class Memo:
    """An uploaded document; sets hold what may stand, one element once it is known.

    Attributes:
        numbers: what its text may say; a new version of the file says another number.
        authors: what its author may have been corrected to, "" for none.
        there: whether it is, None while nobody knows.
    """

    code: str
    numbers: set[int]
    authors: set[str] = field(default_factory=lambda: {""})
    doc_id: str = ""
    there: bool | None = None

    @property
    def rewritten(self) -> bool:
        """Tell whether new versions of it come: those of a corrected one have rules of their own."""
        return self.code.endswith(("1", "4", "7"))


@dataclass
class Talk:
    """A thread: the answers that were given in it, and what it waits on.

    Attributes:
        sent: whether something was sent that nobody knows to have arrived.
        ratings: run id -> the scores that may stand.
    """

    thread_id: str
    answers: list[str] = field(default_factory=list)
    waiting: str = ""
    sent: bool = False
    there: bool | None = True
    ratings: dict[str, set[int]] = field(default_factory=dict)


def text_of(code: str, number: int) -> str:
    """Return the text of a memo."""
    return f"# Memo {code}\n\nDate: 2024-03-05\n\nThe locker of memo {code} has the number {number}.\n"


Act = Callable[[httpx.AsyncClient, random.Random], Awaitable[bool]]


class Visitor:
    """Sends requests at random, keeps what was acknowledged, and checks it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.memos: list[Memo] = []
        self.talks: list[Talk] = []
        self.touched: list[Memo | Talk] = []
        self.acknowledged = 0
        self.lost_track = 0
        """Requests that were under way when a server died."""

    def acts(self) -> dict[Act, int]:
        """Return what a visitor does, each with how often."""
        return {
            self.upload: 8,
            self.rewrite: 6,
            self.correct: 8,
            self.remove: 6,
            self.ask: 1,
            self.ask_openly: 2,
            self.reply: 2,
            self.go_on: 1,
            self.rate: 2,
            self.forget: 2,
        }

    async def visit(self, client: httpx.AsyncClient, draw: random.Random) -> None:
        """Send one request after the other until the server dies."""
        acts = self.acts()
        if len(self.memos) > ENOUGH and draw.random() < 0.5:  # a server takes seconds to read its first file
            del acts[self.upload], acts[self.rewrite]
        while True:
            (act,) = draw.choices(list(acts), weights=list(acts.values()))
            try:
                self.acknowledged += await act(client, draw)
            except httpx.TransportError:
                self.lost_track += 1
                return

    async def upload(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Bring a new memo in."""
        memo = Memo(f"{self.name}-{len(self.memos) + 100}", {draw.randrange(10_000, 100_000)})
        self.memos.append(memo)
        self.touched.append(memo)
        await self._bring(client, memo, next(iter(memo.numbers)))
        memo.there = True
        return True

    async def rewrite(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Bring a new version of a memo's file in."""
        memo = self._drawn(draw, lambda memo: memo.rewritten)
        if memo is None:
            return False
        number = draw.randrange(10_000, 100_000)
        memo.numbers.add(number)
        await self._bring(client, memo, number)
        memo.numbers = {number}
        return True

    async def _bring(self, client: httpx.AsyncClient, memo: Memo, number: int) -> None:
        file = {"file": (f"memo {memo.code}.md", text_of(memo.code, number), "text/markdown")}
        answer = ok(await client.post("/documents", data={"bucket": BUCKET}, files=file))
        (memo.doc_id,) = answer.json()["documents"]

    async def correct(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Set the author of a memo."""
        memo = self._drawn(draw, lambda memo: not memo.rewritten)
        if memo is None:
            return False
        author = draw.choice(PEOPLE)
        memo.authors.add(author)
        given = {"field": "author", "action": "set", "value": author}
        ok(await client.post(f"/documents/{memo.doc_id}/corrections", json=given))
        memo.authors = {author}
        return True

    async def remove(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Remove a memo."""
        memo = self._drawn(draw, lambda _: True)
        if memo is None or sum(bool(item.there) for item in self.memos) < 4:
            return False
        memo.there = None
        ok(await client.delete(f"/documents/{memo.doc_id}"))
        memo.there = False
        return True

    async def ask(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Ask what a memo says, in a new thread."""
        memo = self._drawn(draw, lambda _: True)
        if memo is None:
            return False
        answer = ok(await client.post("/ask", json={"question": question_of(memo)})).json()
        assert str(next(iter(memo.numbers))) in answer["text"], answer["text"]
        self._open(Talk(answer["thread_id"], [answer["text"]]))
        return True

    async def ask_openly(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Ask what must be asked back, in a new thread."""
        answer = ok(await client.post("/ask", json={"question": AMBIGUOUS})).json()
        self._open(Talk(answer["thread_id"], waiting=answer["clarification"]["interrupt_id"]))
        return True

    def _open(self, talk: Talk) -> None:
        self.talks.append(talk)
        self.touched.append(talk)

    async def reply(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Answer what a thread asks back; two of them are left to wait."""
        waiting = [talk for talk in self.talks if talk.waiting and talk.there]
        if len(waiting) < 3:
            return False
        talk = draw.choice(waiting)
        self.touched.append(talk)
        await self._reply(client, talk)
        return True

    async def _reply(self, client: httpx.AsyncClient, talk: Talk) -> None:
        talk.sent = True
        given = {"reply": PICKED, "interrupt_id": talk.waiting}
        answer = ok(await client.post(f"/threads/{talk.thread_id}/reply", json=given)).json()
        assert answer["status"] == "answered", answer["text"]
        assert "cobaltine-cbc-10904" in {item["doc_id"] for item in answer["citations"]}
        talk.answers, talk.waiting, talk.sent = [*talk.answers, answer["text"]], "", False

    async def go_on(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Ask again in a thread."""
        talk, memo = self._answered(draw), self._drawn(draw, lambda _: True)
        if talk is None or memo is None:
            return False
        talk.sent = True
        given = {"question": question_of(memo), "thread_id": talk.thread_id}
        answer = ok(await client.post("/ask", json=given)).json()
        talk.answers, talk.sent = [*talk.answers, answer["text"]], False
        return True

    async def rate(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Rate the first answer of a thread."""
        talk = self._answered(draw)
        if talk is None:
            return False
        turn = ok(await client.get(f"/threads/{talk.thread_id}")).json()["turns"][0]
        score = draw.choice((1, -1))
        talk.ratings.setdefault(turn["run_id"], {0}).add(score)
        given = {"run_id": turn["run_id"], "score": score}
        ok(await client.post(f"/threads/{talk.thread_id}/feedback", json=given))
        talk.ratings[turn["run_id"]] = {score}
        return True

    async def forget(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Delete a thread."""
        talk = self._answered(draw)
        if talk is None:
            return False
        talk.there = None
        ok(await client.delete(f"/threads/{talk.thread_id}"))
        talk.there = False
        return True

    def _drawn(self, draw: random.Random, fits: Callable[[Memo], bool]) -> Memo | None:
        known = [memo for memo in self.memos if memo.there and fits(memo)]
        memo = draw.choice(known) if known else None
        self.touched += [memo] if memo else []
        return memo

    def _answered(self, draw: random.Random) -> Talk | None:
        known = [talk for talk in self.talks if talk.there and talk.answers]
        talk = draw.choice(known) if known else None
        self.touched += [talk] if talk else []
        return talk

    async def check(self, client: httpx.AsyncClient, draw: random.Random, *, all_of_it: bool = False) -> None:
        """Hold what the server says against what was acknowledged; what nobody knew is known from then on."""
        looked_at = [*self.touched, *draw.sample(self.memos, min(OLD_ONES, len(self.memos)))]
        looked_at += draw.sample(self.talks, min(OLD_ONES, len(self.talks)))
        chosen = {id(item) for item in looked_at}
        last = self.touched[-1:]  # it was under way when the server died
        for memo in self.memos:
            if all_of_it or id(memo) in chosen:
                await self._check_memo(client, memo, asks=all_of_it or memo in last)
        for talk in self.talks:
            if all_of_it or id(talk) in chosen:
                await self._check_talk(client, talk)
        for talk in [talk for talk in self.talks if all_of_it and talk.waiting and talk.there]:
            await self._reply(client, talk)
        self.touched = []

    async def _check_memo(self, client: httpx.AsyncClient, memo: Memo, *, asks: bool) -> None:
        listed = ok(await client.get("/documents", params={"bucket": BUCKET, "q": memo.code})).json()
        ids = [item["doc_id"] for item in listed["documents"]]
        assert len(ids) == listed["total"] <= 1, f"{memo} is listed as {ids}"
        if memo.there is None:
            memo.there, memo.doc_id = bool(ids), memo.doc_id or "".join(ids)
        assert ids == ([memo.doc_id] if memo.there else []), f"{memo} is listed as {ids}"
        if memo.doc_id and not memo.there:
            gone = [f"/documents/{memo.doc_id}{part}" for part in ("", "/text", "/values", "/file")]
            assert [(await client.get(path)).status_code for path in gone] == [404] * 4, memo
        if memo.there:
            await self._check_parts(client, memo)
        if asks:
            answer = ok(await client.post("/ask", json={"question": question_of(memo)})).json()
            says = str(next(iter(memo.numbers))) in answer["text"]
            assert says == memo.there, f"{memo} is answered with {answer['text']}"
            cited = {item["doc_id"] for item in answer["citations"]}
            assert not memo.doc_id or (memo.doc_id in cited) == memo.there, f"{memo}: {cited}"

    async def _check_parts(self, client: httpx.AsyncClient, memo: Memo) -> None:
        path = f"/documents/{memo.doc_id}"
        text = ok(await client.get(f"{path}/text")).json()["text"]
        stands = [number for number in memo.numbers if text.strip() == text_of(memo.code, number).strip()]
        assert stands, f"{memo} has the text {text!r}"
        memo.numbers = set(stands)
        assert ok(await client.get(f"{path}/file")).text.strip() == text.strip(), memo
        shown = ok(await client.get(path)).json()
        assert shown["title"] == f"Memo {memo.code}", f"{memo}: {shown}"
        author = shown["metadata"].get("author", "")
        assert author in memo.authors, f"{memo} has the author {author!r}"
        memo.authors = {author}
        values = {item["field"]: item["shown"] for item in ok(await client.get(f"{path}/values")).json()}
        assert values.get("author", "") == author, f"{memo}: {values}"
        for person in PEOPLE:
            query = {"bucket": BUCKET, "filter": f"author={person}", "q": memo.code}
            assert ok(await client.get("/documents", params=query)).json()["total"] == (person == author), (
                memo
            )

    async def _check_talk(self, client: httpx.AsyncClient, talk: Talk) -> None:
        found = await client.get(f"/threads/{talk.thread_id}")
        if talk.there is None:
            talk.there = found.status_code == 200
        assert found.status_code == (200 if talk.there else 404), f"{talk}: {found.text}"
        if not talk.there:
            return
        state = found.json()
        answers = [turn["answer"]["text"] for turn in state["turns"] if turn["answer"]]
        if talk.sent and len(answers) == len(talk.answers) + 1:
            talk.answers, talk.waiting = answers, ""
        talk.sent = False
        assert answers == talk.answers, f"{talk}: {answers}"
        assert (state["clarification"] or {}).get("interrupt_id", "") == talk.waiting, f"{talk}: {state}"
        assert not state["unfinished"], talk
        for turn in state["turns"]:
            scores = talk.ratings.get(turn["run_id"], {0})
            score = turn["rating"] or 0
            assert score in scores, f"{talk} is rated {score}"
            talk.ratings[turn["run_id"]] = {score}


def question_of(memo: Memo) -> str:
    """Return what is asked of a memo."""
    return f"Which number has the locker of memo {memo.code}?"


def ok(answer: httpx.Response) -> httpx.Response:
    """Return an answer that is no refusal and no failure."""
    assert answer.status_code < 300, f"{answer.request.method} {answer.request.url}: {answer.text}"
    return answer
