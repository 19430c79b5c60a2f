"""The steps of the setup, as forms: each is answered by the next one, and a reload repeats nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from adapters.web.pages.session import get_cookie_name
from adapters.web.pages.shell import render_shell
from bot.errors import BadSetting, InvalidToken
from bot.setup.models import BASE, EXAMPLES, KEY, MODEL, NONE, list_model_mistakes
from bot.setup.pasted import clean_paste, find_mistake, mask, mask_word
from bot.setup.platforms import MARKS, describe_check, find_other, list_refusals, order_setups
from bot.setup.state import SetupState
from engine.errors import DocumentTooLarge, EngineError, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.web.setup.session import SetupSession

router = APIRouter(include_in_schema=False)

MAX_FORM_BYTES = 32 * 1024
START, STARTED = "/", "/setup/started"
CHANGED = "Something was changed in another tab. This is what will be written now."


def _get_cookie_name(http: Request) -> str:
    return f"{get_cookie_name(http)}-setup"


async def get_state(http: Request) -> SetupState:
    """The choices so far. Raises InvalidToken for a browser in which the code was not entered."""
    session: SetupSession = http.app.state.session
    if not session.holds(http.cookies.get(_get_cookie_name(http), "")):
        raise InvalidToken("Enter the code that the terminal shows.")
    state: SetupState = http.app.state.setup
    return state


State = Annotated[SetupState, Depends(get_state)]


async def _read_form(http: Request) -> dict[str, list[str]]:
    """The fields of a form. Raises DocumentTooLarge."""
    body = bytearray()
    async for piece in http.stream():
        body += piece
        if len(body) > MAX_FORM_BYTES:
            raise DocumentTooLarge(f"A form has at most {MAX_FORM_BYTES} bytes.")
    return parse_qs(body.decode(errors="replace"), keep_blank_values=True)


def _get(form: Mapping[str, list[str]], name: str) -> str:
    return clean_paste(form.get(name, [""])[0])


def _go(path: str) -> Response:
    return RedirectResponse(path, 303)


def _render(http: Request, state: SetupState, template: str, status: int = 200, **values: Any) -> Response:
    steps = state.list_steps()
    return render_shell(http, None, f"setup/{template}.html", status, steps=steps, state=state, **values)


@router.get("/")
async def show_start(http: Request) -> Response:
    """Ask for the code, or go on where the browser was."""
    try:
        return _go((await get_state(http)).find_step())
    except InvalidToken:
        return _render_code(http)


def _render_code(http: Request, status: int = 200, error: str = "") -> Response:
    session: SetupSession = http.app.state.session
    return render_shell(http, None, "setup/code.html", status, has_code=session.has_code, error=error)


@router.post("/setup/enter")
async def enter_code(http: Request) -> Response:
    """Let the browser in that knows the code."""
    session: SetupSession = http.app.state.session
    cookie = session.enter(_get(await _read_form(http), "code"))
    if not cookie:
        return _render_code(http, 401, "This is not the code that the terminal shows last.")
    response = _go(START)
    response.set_cookie(_get_cookie_name(http), cookie, httponly=True, samesite="strict")
    return response


@router.post("/setup/code")
async def renew_code(http: Request) -> Response:
    """Show another code in the terminal."""
    session: SetupSession = http.app.state.session
    session.renew_code()
    return _go(START)


@router.get("/setup/connect")
async def show_connect(http: Request, state: State) -> Response:
    """Ask what to connect."""
    return _render(http, state, "connect", error="")


@router.post("/setup/connect")
async def choose_platforms(http: Request, state: State) -> Response:
    """Take the platforms, or this computer alone."""
    form = await _read_form(http)
    names = [text for text in form.get("platform", []) if text in state.setups]
    if not names and "local" not in form:
        return _render(http, state, "connect", 422, error="Choose at least one of these.")
    variants = {
        name: chosen
        for name in names
        if (chosen := _get(form, f"variant-{name}")) in {variant.name for variant in state.setups[name].variants}
    }
    async with state.lock:
        state.choose_platforms(names, variants)
    return _go(state.find_step())


def _check_name(state: SetupState, name: str) -> None:
    if name not in (state.platforms or ()):
        raise NotFound("This platform was not chosen.", hint="Begin again on the first page.")


@router.get("/setup/platform/{name}")
async def show_platform(http: Request, state: State, name: str) -> Response:
    """Show the steps on the pages of a platform, and ask for its secrets."""
    _check_name(state, name)
    return _render_platform(http, state, name)


def _render_platform(http: Request, state: SetupState, name: str, status: int = 200, **values: Any) -> Response:
    setup = state.setups[name]
    variant = state.variants.get(name) or next((app.name for app in setup.variants), "")
    shown = {
        "name": name,
        "title": setup.title,
        "guide": setup.list_first_steps(state.draft.load_chosen(), variant),
        "needed": state.list_needed(name),
        "kept": state.mask_kept(name),
        "checks": [(check.state, MARKS[check.state], describe_check(check)) for check in state.checks.get(name, ())],
        "mistakes": {},
        "error": "",
        "refused": list_refusals(state.checks.get(name, ())),
    }
    return _render(http, state, "platform", status, **{**shown, **values})


@router.post("/setup/platform/{name}")
async def take_secrets(http: Request, state: State, name: str) -> Response:
    """Keep what was pasted, and ask the platform about it."""
    form = await _read_form(http)
    _check_name(state, name)
    is_new = any(_get(form, credential.setting) for credential in state.list_needed(name))
    if "anyway" in form and name in state.checks and not is_new:
        state.accepted.add(name)
        return _go(state.find_step())
    async with state.lock:
        try:
            mistakes = state.take_values(name, {setting: values[0] for setting, values in form.items()})
            if mistakes:
                return _render_platform(http, state, name, 422, mistakes=mistakes)
            checks = await state.check_platform(name)
        except BadSetting as error:
            return _render_platform(http, state, name, 422, error=f"{error} {error.hint}")
    return _render_platform(http, state, name, 422) if list_refusals(checks) else _go(state.find_step())


@router.post("/setup/recognize")
async def recognize(http: Request, state: State) -> Response:
    """What is wrong with a pasted value, at once; nothing is kept."""
    form = await _read_form(http)
    name, setting, value = _get(form, "platform"), _get(form, "setting"), _get(form, "value")
    _check_name(state, name)
    ordered = order_setups(name, state.setups)
    wanted = next((credential for credential in state.list_needed(name) if credential.setting == setting), None)
    if wanted is None:
        raise NotFound("There is no such field.")
    mistake = find_mistake(value, wanted, ordered) if value else ""
    other = find_other(value, wanted, ordered) if mistake else None
    if other is None or other not in state.list_needed(name):
        return JSONResponse({"text": mistake, "move": ""})
    text = f"This was the {other.name}: it is in its own field now. Paste the {wanted.name} here."
    return JSONResponse({"text": text, "move": other.setting})


@router.get("/setup/model")
async def show_model(http: Request, state: State) -> Response:
    """Ask for a model."""
    return _render_model(http, state)


def _render_model(http: Request, state: SetupState, status: int = 200, **values: Any) -> Response:
    draft = state.draft
    shown = {
        "model": draft.find_value(MODEL),
        "base": draft.find_value(BASE),
        "key": mask(draft.find_value(KEY)),
        "examples": EXAMPLES,
        "mistakes": {},
        "error": "",
    }
    return _render(http, state, "model", status, **{**shown, **values})


@router.post("/setup/model")
async def take_model(http: Request, state: State) -> Response:
    """Keep a model or none, check it, and estimate what it costs."""
    form = await _read_form(http)
    name = "" if "none" in form else _get(form, MODEL)
    if not name and "none" not in form:
        mistakes = {MODEL: "Name a model, or go on without one."}
        return _render_model(http, state, 422, mistakes=mistakes)
    name, base = "" if name.casefold() in NONE else name, _get(form, BASE)
    async with state.lock:
        if mistakes := state.take_model(name, _get(form, KEY), base):
            shown = mask_word(name)  # a key that was pasted there is not shown again
            return _render_model(http, state, 422, mistakes=mistakes, model=shown, base=base)
        try:
            await state.check_model()
        except BadSetting as error:
            return _render_model(http, state, 422, error=f"{error} {error.hint}")
    return _go(state.find_step())


@router.get("/setup/review")
async def show_review(http: Request, state: State) -> Response:
    """Show what will be written, what it costs, and what does not work."""
    path = state.find_step()
    return _render_review(http, state) if path == "/setup/review" else _go(path)


def _render_review(http: Request, state: SetupState, status: int = 200, error: str = "") -> Response:
    shown = {
        "values": state.list_values(),
        "file": str(state.draft.file),
        "refused": state.list_refusals(),
        "model_refused": list_model_mistakes(state.model_checks),
        "notes": state.list_notes(),
        "weights": str(state.weights_package) if state.needs_weights else "",
        "error": error,
    }
    return _render(http, state, "review", status, **shown)


@router.post("/setup/review")
async def write_settings(http: Request, state: State) -> Response:
    """Write the settings that were shown, and start."""
    form = await _read_form(http)
    async with state.lock:
        if state.is_written:
            return _go(STARTED)
        if (path := state.find_step()) != "/setup/review":
            return _go(path)
        if _get(form, "version") != str(state.version):
            return _render_review(http, state, 409, CHANGED)
        if state.list_refusals() and "anyway" not in form:
            return _render_review(http, state, 422, "What does not work is listed here. Mend it, or go on anyway.")
        try:
            await state.write()
        except (EngineError, OSError) as error:
            return _render_review(http, state, 500, f"Nothing was written. {error} {getattr(error, 'hint', '')}")
    return _go(STARTED)


@router.get("/setup/started")
async def show_end(http: Request, state: State) -> Response:
    """Say what was written, and how to ask the first question."""
    if not state.is_written:
        return _go(state.find_step())
    settings = state.draft.load_chosen()
    last = [
        (state.setups[platform].title, state.setups[platform].list_last_steps(settings))
        for platform in state.platforms or ()
    ]
    overridden = state.draft.list_overridden()
    return _render(http, state, "started", last=last, file=str(state.draft.file), overridden=overridden)


@router.post("/setup/leave")
async def leave(state: State) -> Response:
    """Let the program start: the last page is shown."""
    if state.is_written:
        state.left.set()
    return Response(status_code=204)


@router.get("/{path:path}")
async def show_other(path: str) -> Response:  # noqa: ARG001  - whatever it is
    """Redirect a bookmark of the page to the setup."""
    return _go(START)
