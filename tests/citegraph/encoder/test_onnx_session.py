"""Pairs of texts as windows of token ids."""

from citegraph.encoder.onnx_session import FIRST, WINDOW, batches, tokenizer, windows


def test_a_short_pair_is_one_window_whose_offsets_point_into_the_second_text() -> None:
    (window,) = windows([("Who pays?", "The buyer pays 12.50.")])
    words = ["The buyer pays 12.50."[start:end] for start, end in window.offsets]
    assert words == ["The", "buyer", "pays", "12", ".", "50", "."]
    assert len(window.ids) == window.first + len(words) + 1
    assert window.first == 5  # [CLS] who pays ? [SEP]


def test_every_token_of_a_long_text_is_in_a_window_and_the_last_window_ends_with_the_text() -> None:
    text = " ".join(f"word{number}" for number in range(400))
    found = windows([("short", "one"), ("Which word?", text)])
    mine = [window for window in found if window.owner == 1]
    assert len(found) == len(mine) + 1
    assert max(len(window.ids) for window in mine) == WINDOW
    covered = {offset for window in mine for offset in window.offsets}
    whole = tokenizer().encode(text, add_special_tokens=False).offsets
    assert covered == set(whole)
    assert mine[-1].offsets[-1] == whole[-1]
    assert set(mine[0].offsets) & set(mine[1].offsets)


def test_a_question_without_end_leaves_room_for_the_passage() -> None:
    (window,) = windows([("why " * 1000, "because")])
    assert window.first == FIRST + 2
    assert window.offsets == ((0, 7),)


def test_batches_hold_every_window_once_padded_to_the_longest_of_its_batch() -> None:
    found = windows([("q", "a " * size) for size in (30, 1, 20, 2, 10)])
    made = list(batches(found, size=2))
    assert sorted(place for batch in made for place in batch.places) == [0, 1, 2, 3, 4]
    for batch in made:
        assert batch.ids.shape == batch.segments.shape == batch.mask.shape
        assert batch.ids.shape[1] == max(len(found[place].ids) for place in batch.places)
        for row, place in enumerate(batch.places):
            assert batch.mask[row].sum() == len(found[place].ids)
            assert batch.segments[row].sum() == len(found[place].offsets) + 1
    assert made[0].ids.shape[1] < made[-1].ids.shape[1]
