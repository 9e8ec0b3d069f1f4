# Ask and tell with a server of zoviz's: `zoviz serve --api`. Needs the packages curl and jsonlite.
#
#   session <- zoviz_session("http://127.0.0.1:5006", token, bounds = list(c(-2, 2), c(-2, 2)), m = 1, calls = 100)
#   answer <- zoviz_minimise(session, function(x) list(f = sum(x^2), h = 1 - x[1]))

zoviz_request <- function(session, method, path, body = NULL) {
  handle <- curl::new_handle(customrequest = method)
  curl::handle_setheaders(handle, Authorization = paste("Bearer", session$token), "Content-Type" = "application/json")
  if (!is.null(body)) {
    if (!is.character(body)) body <- as.character(jsonlite::toJSON(body, auto_unbox = TRUE, digits = NA))
    curl::handle_setopt(handle, postfields = body)
  }
  response <- curl::curl_fetch_memory(paste0(session$server, "/api", path), handle)
  content <- jsonlite::fromJSON(rawToChar(response$content), simplifyVector = FALSE)
  if (response$status_code >= 400) stop(content$error)
  content
}

# With `id`, a session that was begun before goes on.
zoviz_session <- function(server, token, ..., id = NULL) {
  session <- list(server = server, token = token, id = id)
  if (is.null(id)) session$id <- zoviz_request(session, "POST", "/sessions", list(...))$id
  session
}

# `fun` maps x to list(f = ..., h = ...); what it stops with is a failed call.
zoviz_minimise <- function(session, fun) {
  path <- paste0("/sessions/", session$id)
  repeat {
    asked <- zoviz_request(session, "GET", paste0(path, "/ask"))
    if (asked$done) break
    for (point in asked$points) {
      value <- tryCatch(fun(unlist(point$x)), error = function(e) list(f = NA, h = list()))
      # By hand: toJSON writes 15 digits, and a number has 17.
      digits <- function(x) ifelse(is.finite(x), sprintf("%.17g", x), "null")
      h <- paste(digits(unlist(value$h)), collapse = ",")
      told <- sprintf('{"points": [{"id": %d, "f": %s, "h": [%s]}]}', point$id, digits(value$f), h)
      zoviz_request(session, "POST", paste0(path, "/tell"), told)
    }
  }
  zoviz_request(session, "GET", paste0(path, "/result"))
}
